package dev.trailblaze.tools

import dev.trailblaze.TrailblazeDevicePlatform

/**
 * Makes a function of a [ToolSet] a tool. The function may be suspending or not.
 *
 * Its parameters are the arguments of the tool: flat, or the fields of one [TrailblazeTool]. A parameter of the type
 * [TrailblazeContext] is the context of the call and no argument.
 *
 * @property customName The name of the tool. If empty, it is that of the function.
 */
@Target(AnnotationTarget.FUNCTION)
@Retention(AnnotationRetention.RUNTIME)
@MustBeDocumented
public annotation class Tool(val customName: String = "")

/**
 * What models and people read about a tool, a parameter, or a property of an argument's class.
 *
 * @property description The text.
 */
@Target(AnnotationTarget.FUNCTION, AnnotationTarget.VALUE_PARAMETER, AnnotationTarget.PROPERTY, AnnotationTarget.CLASS)
@Retention(AnnotationRetention.RUNTIME)
@MustBeDocumented
public annotation class LLMDescription(val description: String)

/**
 * Makes a class that is an [ExecutableTrailblazeTool] or a [DelegatingTrailblazeTool] a tool. The parameters of its constructor are
 * the arguments.
 *
 * @property name The name of the tool.
 * @property isRecordable Whether its calls are recorded. Those of a [DelegatingTrailblazeTool] never are.
 * @property isForLlm Whether models are offered the tool. Trails can always call it.
 * @property platforms The platforms that it supports. If empty, all.
 * @property requiresHost Whether it is unavailable if the agent runs on the device.
 */
@Target(AnnotationTarget.CLASS)
@Retention(AnnotationRetention.RUNTIME)
@MustBeDocumented
public annotation class TrailblazeToolClass(
    val name: String,
    val isRecordable: Boolean = true,
    val isForLlm: Boolean = true,
    val platforms: Array<TrailblazeDevicePlatform> = [],
    val requiresHost: Boolean = false,
)
