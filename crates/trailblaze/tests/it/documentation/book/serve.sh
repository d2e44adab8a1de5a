# For pages about programs that use `trailblaze serve`, which stays in the foreground: `. serve.sh -d android/sim-1` starts it in the
# background, links KEY_FILE to the file with its key, and makes curl call its port, which is another one if that of the page is taken.
trailblaze serve "$@" --json >serve.json &
until [ -s serve.json ]; do sleep 0.05; done
ln -s "$(sed 's/.*"keyFile": *"\([^"]*\)".*/\1/' serve.json)" KEY_FILE
ADDRESS=$(sed 's/.*"address": *"http:\/\/\([^"]*\)".*/\1/' serve.json)
curl() { command curl "${@//127.0.0.1:52525/$ADDRESS}"; }
