package dev.trailblaze.peers

import dev.trailblaze.ActionFailed
import dev.trailblaze.ApiError
import dev.trailblaze.AssertionFailed
import dev.trailblaze.Served
import dev.trailblaze.TrailblazeClient
import io.grpc.ManagedChannel
import io.grpc.ManagedChannelBuilder
import io.grpc.Metadata
import io.grpc.StatusException
import io.grpc.stub.MetadataUtils
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.assertThrows
import trailblaze.v1.Commands.AssertVisibleRequest
import trailblaze.v1.Commands.CaptureScreenRequest
import trailblaze.v1.Commands.GetElementCountRequest
import trailblaze.v1.Commands.GetElementTextRequest
import trailblaze.v1.Commands.IsVisibleRequest
import trailblaze.v1.Commands.LaunchAppRequest
import trailblaze.v1.Commands.TapRequest
import trailblaze.v1.Session.CallToolRequest
import trailblaze.v1.Session.ListToolsRequest
import trailblaze.v1.Session.WatchEventsRequest
import trailblaze.v1.TrailblazeCommandsGrpcKt.TrailblazeCommandsCoroutineStub
import trailblaze.v1.TrailblazeSessionGrpcKt.TrailblazeSessionCoroutineStub
import trailblaze.v1.Types.Element

/** Stubs of grpc-kotlin, made from the same contract, see and do what the client sees and does. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GrpcPeerTest {
    private var served: Served? = null
    private var channel: ManagedChannel? = null
    private val tb by lazy { checkNotNull(served).let { TrailblazeClient(it.address, key = it.key) } }
    private val authorization by lazy {
        val headers = Metadata()
        val name = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER)
        headers.put(name, "Bearer ${checkNotNull(served).key}")
        MetadataUtils.newAttachHeadersInterceptor(headers)
    }
    private val commands by lazy { TrailblazeCommandsCoroutineStub(checkNotNull(channel)).withInterceptors(authorization) }
    private val session by lazy { TrailblazeSessionCoroutineStub(checkNotNull(channel)).withInterceptors(authorization) }

    @BeforeAll
    fun start() {
        val server = Served("android/sim-1", "tests/parity/project").also { served = it }
        channel = ManagedChannelBuilder.forTarget(server.address.removePrefix("http://")).usePlaintext().build()
        runBlocking { commands.launchApp(LaunchAppRequest.newBuilder().setPackageId("com.example.counter").build()) }
    }

    @AfterAll
    fun stop() {
        channel?.shutdownNow()?.awaitTermination(10, TimeUnit.SECONDS)
        served?.close()
    }

    @Test
    fun `queries have the same answers`() = runBlocking {
        for (text in listOf("Add one", "Subtract")) {
            val answer = commands.isVisible(IsVisibleRequest.newBuilder().setText(text).build()).value
            assertEquals(answer, tb.isVisible(text))
            val count = commands.getElementCount(GetElementCountRequest.newBuilder().setText(text).build()).value
            assertEquals(count, tb.getElementCount(text))
        }
        assertEquals(
            commands.getElementText(GetElementTextRequest.newBuilder().setId("add").build()).value,
            tb.getElementText("add"),
        )
        val screen = commands.captureScreen(CaptureScreenRequest.newBuilder().setPicture(true).build())
        val ours = tb.captureScreen(picture = true)
        assertEquals(texts(screen.root), ours.elements.mapNotNull { it.text })
        assertEquals(screen.picture.mime, ours.picture?.mime)
        assertEquals(session.listTools(ListToolsRequest.getDefaultInstance()).toolsList.map { it.name }, tb.listTools().tools.map { it.name })
    }

    private fun texts(element: Element): List<String> =
        listOfNotNull(element.text.takeIf { element.hasText() }) + element.childrenList.flatMap(::texts)

    @Test
    fun `failures have the same texts`() {
        val tap = runBlocking { commands.tap(TapRequest.newBuilder().setText("Subtract").setTimeoutMs(1).build()) }
        val failed = assertThrows<ActionFailed> { runBlocking { tb.tap(text = "Subtract", timeoutMs = 1) } }
        assertEquals(listOf(tap.success, tap.variant), listOf(false, failed.variant))
        assertEquals(withoutTimes(tap.message), withoutTimes(failed.message))
        val check = runBlocking { commands.assertVisible(AssertVisibleRequest.newBuilder().setText("Subtract").setTimeoutMs(1).build()) }
        val asserted = assertThrows<AssertionFailed> { runBlocking { tb.assertVisible("Subtract", timeoutMs = 1) } }
        assertEquals(check.variant to withoutTimes(check.message), asserted.variant to withoutTimes(asserted.message))
        val refused = assertThrows<StatusException> {
            runBlocking { session.callTool(CallToolRequest.newBuilder().setName("tapp").build()) }
        }
        val error = assertThrows<ApiError> { runBlocking { tb.callTool("tapp") } }
        assertEquals(refused.status.code.name to refused.status.description, error.code.name to error.reason)
    }

    private fun withoutTimes(text: String) = text.replace(Regex(" within [\\d.]+ s"), "")

    @Test
    fun `streams have the same messages`() = runBlocking {
        val theirs = session.watchEvents(WatchEventsRequest.newBuilder().setAfter(1).build()).take(3).map { it.number to it.json }
        val ours = tb.watchEvents(after = 1).take(3).map { it.number to it.json }
        assertEquals(theirs.toList(), ours.toList())
        assertTrue(ours.toList().isNotEmpty())
    }
}
