package androidx.test.platform.app;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public final class InstrumentationRegistry {
    private static android.app.Instrumentation instance;

    public static android.app.Instrumentation getInstrumentation() {
        return instance;
    }

    public static void registerInstance(android.app.Instrumentation instrumentation, android.os.Bundle arguments) {
        instance = instrumentation;
    }
}
