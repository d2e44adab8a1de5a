import dev.trailblaze.testing.FakeDevice
import dev.trailblaze.tools.ToolServer
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Unit tests of the tool, without Trailblaze: the device is a fake. */
class CLASS_OF_TOOLTest {
    private val server = ToolServer("test").toolSet(CLASS_OF_TOOL())

    @Test
    fun `matching elements are counted and remembered`() = runBlocking {
        val device = FakeDevice().apply { show("Pay", "Pay", "Cancel") }
        val result = server.call("NAME_OF_TOOL", mapOf("text" to "Pay"), device)
        assertEquals("2 on the screen", result.text)
        assertEquals("2", result.remembered["count"].toString())
        assertEquals(listOf("getElementCount"), device.calls.map { it.tool })
    }

    @Test
    fun `a missing text is refused before any call`() = runBlocking {
        val device = FakeDevice()
        val result = server.call("NAME_OF_TOOL", emptyMap(), device)
        assertEquals("MissingRequiredArgs", result.variant)
        assertEquals(emptyList<Any>(), device.calls)
    }
}
