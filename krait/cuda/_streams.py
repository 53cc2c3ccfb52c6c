"""Streams in asynchronous programs."""

import asyncio


def future_of(stream):
    """A future of the running event loop, done when all that the stream was given so far has finished."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def finish():
        if future.cancelled():
            return
        try:
            stream.query()  # raises what the work failed with, and what kernels raised
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(stream)

    def reached(stream, status, argument):
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish)

    stream.add_callback(reached)
    return future
