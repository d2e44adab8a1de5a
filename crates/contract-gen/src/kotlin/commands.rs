//! `GeneratedCommands.kt`: an interface for each service.

use std::fmt::Write;

use super::{
    KotlinParam, by_position, common, doc, group, header, method_doc, params, present, returned, returned_messages,
    signature,
};
use crate::model::{Contract, FieldType, MethodDef, ServiceDef};

pub fn emit(model: &Contract) -> String {
    let imports: Vec<String> = returned_messages(model).chain(["kotlinx.coroutines.flow.Flow".to_string()]).collect();
    let mut out = header("", &imports);
    model.services.iter().for_each(|service| interface(&mut out, model, service));
    out
}

fn interface(out: &mut String, model: &Contract, service: &ServiceDef) {
    out.push('\n');
    let is_root = service.name == "TrailblazeCommands";
    if is_root {
        let about = "The commands that every device has, and access to those of its kind, to what calls remember, and to the \
                     session. Actions and assertions throw if they fail; queries return what they found.";
        doc(out, "", about, &[]);
        let parents: Vec<&str> =
            common(model).map(|service| service.name.as_str()).filter(|name| *name != "TrailblazeCommands").collect();
        let _ = writeln!(out, "public interface {} : {} {{", service.name, parents.join(", "));
        doc(out, "    ", "The device's platform.", &[]);
        out.push_str("    public val platform: TrailblazeDevicePlatform\n");
        for listed in &model.services {
            let Some(name) = group(listed) else { continue };
            out.push('\n');
            doc(out, "    ", &format!("{} Null if the device is known not to have them.", listed.doc), &[]);
            let _ = writeln!(out, "    public val {name}: {}?", listed.name);
        }
        out.push('\n');
    } else {
        doc(out, "", &service.doc, &[]);
        let _ = writeln!(out, "public interface {} {{", service.name);
    }
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
    let returned = returned(model, method);
    method_doc(out, method, &params);
    if method.is_streaming {
        signature(out, &format!("public fun {name}"), &declared, &format!(": Flow<{returned}>\n"));
        return;
    }
    let start = format!("public suspend fun {name}");
    signature(out, &start, &declared, &format!(": {returned}\n"));
    if let Some(fields) = by_position(model, method) {
        let names: Vec<&str> = fields.iter().map(|field| field.json.as_str()).collect();
        let declared: Vec<String> = fields.iter().map(|field| format!("{}: {}", field.json, present(field))).collect();
        // One more argument chooses the other function.
        let first = params.iter().find(|param| param.default.is_some()).expect("points are optional");
        let passed: Vec<String> = names.iter().map(|name| format!("{name} = {name}")).collect();
        out.push('\n');
        doc(out, "    ", &format!("[{name}] with only [{}].", names.join("] and [")), &[]);
        let end = format!(": {returned} =\n        {name}({} = null, {})\n", first.identifier(), passed.join(", "));
        signature(out, &start, &declared, &end);
    }
    if let [param] = params.as_slice() {
        if param.field.ty == FieldType::Double {
            out.push('\n');
            method_doc(out, method, &params);
            let end = format!(": {returned} = {name}({0}.toString().toDouble())\n", param.identifier());
            signature(out, &start, &[format!("{}: Float", param.identifier())], &end);
        }
    }
}
