"""The random soak: real processes, real servers, everything goes wrong that can, and an oracle that knows each record. ./dev soak"""
