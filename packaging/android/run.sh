# Runs the trails of a test APK, as the shell of the phone. Arguments: the program, and the folder with a copy of the assets, which
# has the record of the run in `logs` afterwards.
program=$1 assets=$2
work=/data/local/tmp/trailblaze-package
rm -rf "$work" "$assets/logs"
mkdir -p "$work/home"
cp -R "$assets/project" "$work/project"
cd "$work/project" || exit 2
HOME=$work/home TMPDIR=$work/home "$program" run -d android/local
code=$?
cp -R logs "$assets/logs"
cd /
rm -rf "$work"
echo "exit code $code"
exit "$code"
