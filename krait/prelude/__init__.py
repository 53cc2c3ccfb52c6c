"""Library functions written in the Python that Krait compiles; compiled on demand, never called by the interpreter."""
