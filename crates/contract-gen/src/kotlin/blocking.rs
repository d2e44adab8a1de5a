//! `Blocking.kt`: the interfaces for callers that block, such as Java's.

use std::fmt::Write;

use super::{
    KotlinParam, by_position, common, doc, group, header, method_doc, params, present, returned, returned_messages,
    signature,
};
use crate::model::{Contract, MethodDef, ServiceDef};

pub fn emit(model: &Contract) -> String {
    let mut out = header("", &returned_messages(model).collect::<Vec<_>>());
    out.push('\n');
    let about = "The methods of [TrailblazeCommands] for callers that block, such as Java's. The thread of a call waits for it; if it \
                 is interrupted, the call is cancelled.";
    doc(&mut out, "", about, &["@property commands What the calls are made on.".to_string()]);
    out.push_str("public open class BlockingCommands(public val commands: TrailblazeCommands) {\n");
    doc(&mut out, "    ", "The device's platform.", &[]);
    out.push_str("    public val platform: TrailblazeDevicePlatform get() = commands.platform\n");
    for service in &model.services {
        let Some(name) = group(service) else { continue };
        out.push('\n');
        doc(&mut out, "    ", &format!("{} Null if the device is known not to have them.", service.doc), &[]);
        let _ = writeln!(
            out,
            "    public val {name}: Blocking{0}? = commands.{name}?.let {{ Blocking{0}(it) }}",
            service.name
        );
    }
    for service in common(model) {
        service.methods.iter().for_each(|listed| {
            out.push('\n');
            method(&mut out, model, listed);
        });
    }
    out.push_str("}\n");
    for service in model.services.iter().filter(|service| group(service).is_some()) {
        class(&mut out, model, service);
    }
    out
}

fn class(out: &mut String, model: &Contract, service: &ServiceDef) {
    out.push('\n');
    doc(out, "", &format!("The methods of [{}] for callers that block. {}", service.name, service.doc), &[]);
    let _ = writeln!(out, "public class Blocking{0} internal constructor(private val commands: {0}) {{", service.name);
    for (number, listed) in service.methods.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        method(out, model, listed);
    }
    out.push_str("}\n");
}

fn method(out: &mut String, model: &Contract, method: &MethodDef) {
    let name = method.tool();
    let params = params(model, method);
    let declared: Vec<String> = params.iter().map(KotlinParam::declare).collect();
    let passed: Vec<&str> = params.iter().map(KotlinParam::identifier).collect();
    let returned = returned(model, method);
    method_doc(out, method, &params);
    if params.iter().any(|param| param.default.is_some()) {
        out.push_str("    @JvmOverloads\n");
    }
    let start = format!("public fun {name}");
    let call = format!("commands.{name}({})", passed.join(", "));
    if method.is_streaming {
        signature(out, &start, &declared, &format!(": BlockingStream<{returned}> =\n        BlockingStream({call})\n"));
        return;
    }
    signature(out, &start, &declared, &format!(": {returned} =\n        blocking {{ {call} }}\n"));
    if let Some(fields) = by_position(model, method) {
        let names: Vec<&str> = fields.iter().map(|field| field.json.as_str()).collect();
        let declared: Vec<String> = fields.iter().map(|field| format!("{}: {}", field.json, present(field))).collect();
        out.push('\n');
        doc(out, "    ", &format!("[{name}] with only [{}].", names.join("] and [")), &[]);
        let end = format!(": {returned} =\n        blocking {{ commands.{name}({}) }}\n", names.join(", "));
        signature(out, &start, &declared, &end);
    }
}
