"""How requests get to Django: the ASGI handler with its threads, limits on what clients send and read, and the fair sharing of threads
among clients."""
