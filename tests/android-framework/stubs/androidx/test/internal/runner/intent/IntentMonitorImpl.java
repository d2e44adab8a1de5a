package androidx.test.internal.runner.intent;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public final class IntentMonitorImpl implements androidx.test.runner.intent.IntentMonitor {
    public void signalIntent(android.content.Intent intent) {}
}
