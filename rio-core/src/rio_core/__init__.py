"""The core of rio. Plugin authors use `rio_core.api`, front ends `rio_core.protocol` and `rio_core.client`."""
