package androidx.test.runner.intent;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface IntentStubber {
    android.app.Instrumentation.ActivityResult getActivityResultForIntent(android.content.Intent intent);
}
