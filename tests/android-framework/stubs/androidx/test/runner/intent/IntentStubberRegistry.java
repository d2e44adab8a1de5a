package androidx.test.runner.intent;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public final class IntentStubberRegistry {
    public static boolean isLoaded() {
        return false;
    }

    public static IntentStubber getInstance() {
        return null;
    }
}
