package androidx.test.internal.platform.util;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public final class TestOutputEmitter {
    public static void dumpThreadStates(String file) {}
}
