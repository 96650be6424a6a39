#!/bin/sh
echo '# tolerance=0.5% resolution=0.01 measures=drive'
while :; do echo 4.9; sleep 0.01; echo 5.3; sleep 0.01; done
