package androidx.test.internal.runner.lifecycle;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public final class ActivityLifecycleMonitorImpl implements androidx.test.runner.lifecycle.ActivityLifecycleMonitor {
    private final java.util.Map<android.app.Activity, androidx.test.runner.lifecycle.Stage> stages = new java.util.LinkedHashMap<>();

    public void addLifecycleCallback(androidx.test.runner.lifecycle.ActivityLifecycleCallback callback) {}

    public void removeLifecycleCallback(androidx.test.runner.lifecycle.ActivityLifecycleCallback callback) {}

    public androidx.test.runner.lifecycle.Stage getLifecycleStageOf(android.app.Activity activity) {
        return stages.get(activity);
    }

    public java.util.Collection<android.app.Activity> getActivitiesInStage(androidx.test.runner.lifecycle.Stage stage) {
        java.util.List<android.app.Activity> found = new java.util.ArrayList<>(stages.keySet());
        found.removeIf(activity -> stages.get(activity) != stage);
        return found;
    }

    public void signalLifecycleChange(androidx.test.runner.lifecycle.Stage stage, android.app.Activity activity) {
        stages.put(activity, stage);
    }
}
