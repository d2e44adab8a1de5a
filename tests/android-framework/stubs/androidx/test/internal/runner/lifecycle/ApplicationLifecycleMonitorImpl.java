package androidx.test.internal.runner.lifecycle;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public class ApplicationLifecycleMonitorImpl implements androidx.test.runner.lifecycle.ApplicationLifecycleMonitor {
    public void signalLifecycleChange(
            android.app.Application application, androidx.test.runner.lifecycle.ApplicationStage stage) {}
}
