package androidx.test.internal.platform.app;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface ActivityInvoker {}
