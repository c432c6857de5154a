"""HTTP adapters: each a pure wire and a small client."""
