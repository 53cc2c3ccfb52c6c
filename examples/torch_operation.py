"""A PyTorch operation whose forward and backward passes are kernels in Krait: a smooth absolute value,
sqrt(x * x + width * width) - width, on PyTorch's tensors and on its current stream, without copies.

    python examples/torch_operation.py

Says so and ends where PyTorch is not installed.  Without a GPU the kernels run on the host device.
"""

import math

from krait import cuda

try:
    import torch
except ImportError:
    torch = None

THREADS = 256


@cuda.jit
def forward_kernel(x, width, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sqrt(x[i] * x[i] + width * width) - width


@cuda.jit
def backward_kernel(x, width, slope_of_y, slope_of_x):
    i = cuda.grid(1)
    if i < x.size:
        slope_of_x[i] = slope_of_y[i] * x[i] / math.sqrt(x[i] * x[i] + width * width)


def launcher(kernel, tensor):
    """One thread for each element, on the stream that PyTorch works on."""
    stream = torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else 0
    return kernel[(tensor.numel() + THREADS - 1) // THREADS, THREADS, stream]


def flat(tensor):
    """What a kernel takes: PyTorch's memory; of a tensor of the CPU as a NumPy array."""
    tensor = tensor.detach().contiguous().view(-1)
    return tensor if tensor.is_cuda else tensor.numpy()


def make_operation():
    class SmoothAbsolute(torch.autograd.Function):
        @staticmethod
        def forward(context, x, width):
            context.save_for_backward(x)
            context.width = width
            y = torch.empty_like(x, memory_format=torch.contiguous_format)
            launcher(forward_kernel, x)(flat(x), width, flat(y))
            return y

        @staticmethod
        def backward(context, slope):
            (x,) = context.saved_tensors
            out = torch.empty_like(x, memory_format=torch.contiguous_format)
            launcher(backward_kernel, x)(flat(x), context.width, flat(slope), flat(out))
            return out, None

    return SmoothAbsolute.apply


def main():
    if torch is None:
        print("PyTorch is not installed: nothing to show")
        return
    smooth_absolute = make_operation()
    device = "cuda" if torch.cuda.is_available() and cuda.is_available() else "cpu"
    x = torch.linspace(-3, 3, 100_000, dtype=torch.float64, device=device, requires_grad=True)
    y = smooth_absolute(x, 0.1)
    assert torch.allclose(y, torch.sqrt(x * x + 0.01) - 0.1)
    y.sum().backward()
    assert torch.allclose(x.grad, (x / torch.sqrt(x * x + 0.01)).detach())
    small = torch.randn(20, dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: smooth_absolute(t, 0.5), (small,))
    print(f"{x.numel()} elements on {device}: values and gradients are PyTorch's")


if __name__ == "__main__":
    main()
