package dev.trailblaze;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.trailblaze.messages.Element;
import dev.trailblaze.testing.FakeDevice;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The client as it is used from Java. */
class JavaClientTest {
    @Test
    void aClientIsUsedWithoutCoroutines() {
        try (var server = new FakeServer()) {
            var tb = new BlockingTrailblazeClient(server.getAddress(), "key", Duration.ofSeconds(20));
            assertTrue(tb.tap("Sign in").getSuccess());
            tb.tap(100, 200);
            tb.tap(null, "pay");
            tb.inputText("ada@example.com");
            tb.launchApp();
            tb.callTool("acme_total", Map.of("items", List.of(1, 2)));
            assertEquals("{\"items\":[1,2]}", server.getLast().getJson().get("args").toString());
            assertNotNull(tb.getMaestro());
            tb.getMaestro().swipe(Direction.UP);
            assertEquals(TrailblazeDevicePlatform.UNKNOWN, tb.getPlatform());
            assertEquals(7, server.getRequests().size());
        }
    }

    @Test
    void failuresAreExceptionsAndErrors() {
        try (var server = new FakeServer((request, socket) -> FakeServerKt.respond(
                "{\"success\": false, \"message\": \"no `Pay`\", \"variant\": \"\"}", 200, "application/json"))) {
            var tb = new BlockingTrailblazeClient(server.getAddress(), "key");
            assertEquals("no `Pay`", assertThrows(ActionFailed.class, () -> tb.tap("Pay")).getMessage());
            assertThrows(AssertionError.class, () -> tb.assertVisible("Pay"));
        }
        var tb = new BlockingTrailblazeClient("127.0.0.1:1", "key");
        assertEquals(Code.UNAVAILABLE, assertThrows(ApiError.class, tb::getSession).getCode());
    }

    @Test
    void aFakeDeviceServesJavaToo() {
        var device = new FakeDevice();
        device.show("Email", "Sign in");
        var tb = new BlockingCommands(device);
        tb.tap("Sign in");
        assertTrue(tb.isVisible("Email"));
        assertFalse(tb.isVisible("Welcome"));
        assertNull(tb.getPlaywright());
        Element email = tb.captureScreen().find("Email");
        assertNotNull(email);
        assertEquals(4, device.getCalls().size());
    }
}
