package androidx.test.internal.platform;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface ThreadChecker {
    void checkMainThread();

    void checkNotMainThread();
}
