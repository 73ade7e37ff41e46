#!/bin/sh
# A module that breaks the contract: faulty arguments are a success to it.
echo "half an answer"
