from typing import Any

CC: Any
