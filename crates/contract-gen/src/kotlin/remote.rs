//! `Remote.kt`: the interfaces as calls over the wire.

use std::fmt::Write;

use super::messages::read;
use super::{KotlinParam, common, group, header, params, returned, returned_messages, signature};
use crate::model::{CommandKind, Contract, MethodDef, ServiceDef};

pub fn emit(model: &Contract) -> String {
    let readers = returned_messages(model).map(|name| name.replace("messages.", "messages.read"));
    let imports: Vec<String> =
        returned_messages(model).chain(readers).chain(["kotlinx.coroutines.flow.Flow".to_string()]).collect();
    let mut out = header("", &imports);
    let _ = write!(
        out,
        "\n/** The commands of a device, as calls. */\n\
         internal class RemoteCommands(\n    \
             private val calls: Calls,\n    \
             override val platform: TrailblazeDevicePlatform,\n\
         ) : TrailblazeCommands {{\n"
    );
    let groups = model.services.iter().filter_map(|service| Some((group(service)?, service)));
    for (place, (name, service)) in groups.enumerate() {
        out.push_str(if place == 0 { "" } else { "\n" });
        let named = service.platforms.iter().map(|platform| platform.to_uppercase());
        let known = named.chain(["UNKNOWN".to_string()]).map(|word| format!("TrailblazeDevicePlatform.{word}"));
        let known: Vec<String> = known.collect();
        let _ = write!(
            out,
            "    override val {name}: {0}? = when (platform) {{\n        {1}\n        -> Remote{0}(calls)\n        else -> null\n    }}\n",
            service.name,
            known.iter().map(|platform| format!("{platform},")).collect::<Vec<_>>().join("\n        "),
        );
    }
    for service in common(model) {
        service.methods.iter().for_each(|listed| method(&mut out, model, service, listed));
    }
    out.push_str("}\n");
    for service in model.services.iter().filter(|service| group(service).is_some()) {
        let _ = write!(out, "\ninternal class Remote{0}(private val calls: Calls) : {0} {{", service.name);
        service.methods.iter().for_each(|listed| method(&mut out, model, service, listed));
        out.push_str("}\n");
    }
    out
}

fn method(out: &mut String, model: &Contract, service: &ServiceDef, method: &MethodDef) {
    let params = params(model, method);
    let declared: Vec<String> = params.iter().map(KotlinParam::declare_bare).collect();
    let returned = returned(model, method);
    let response = model.message(&method.response);
    // A lambda goes after the parentheses.
    let (reference, lambda) = match response.value() {
        Some(value) => (String::new(), format!(" {{ fields -> {} }}", read(value))),
        None => (format!("::read{returned}"), String::new()),
    };
    let is_assertion = method.command.as_ref().is_some_and(|command| command.kind == CommandKind::Assertion);
    let function = match response.is_result() {
        _ if method.is_streaming => "stream",
        true if is_assertion => "check",
        true => "act",
        false => "get",
    };
    let path = format!("\"{}/{}\"", service.name, method.name);
    let pairs: Vec<String> = params.iter().map(|param| format!("\"{0}\" to {0}", param.identifier())).collect();
    let map = if pairs.is_empty() { "emptyMap()".to_string() } else { format!("mapOf({})", pairs.join(", ")) };
    let (start, end) = if method.is_streaming {
        (format!("override fun {}", method.tool()), format!(": Flow<{returned}> =\n"))
    } else {
        (format!("override suspend fun {}", method.tool()), format!(": {returned} =\n"))
    };
    out.push('\n');
    signature(out, &start, &declared, &end);
    let separator = if reference.is_empty() { "" } else { ", " };
    let line = format!("        calls.{function}({path}, {map}{separator}{reference}){lambda}");
    if line.len() <= super::WIDTH {
        let _ = writeln!(out, "{line}");
        return;
    }
    let _ = writeln!(out, "        calls.{function}(\n            {path},\n            mapOf(");
    pairs.iter().for_each(|pair| writeln!(out, "                {pair},").expect("text"));
    out.push_str("            ),\n");
    if !reference.is_empty() {
        let _ = writeln!(out, "            {reference},");
    }
    let _ = writeln!(out, "        ){lambda}");
}
