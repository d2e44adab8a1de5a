//! The contract as the emitters see it.

use std::fmt;
use std::path::Path;

use heck::ToLowerCamelCase;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, EnumDescriptor, FieldDescriptor, FileDescriptor, Kind as ProtoKind,
    MessageDescriptor, ReflectMessage, Value,
};

/// The fields that identify the caller, in every request.
pub const IDS: [&str; 3] = ["device_id", "session_id", "invocation_id"];

/// All services, messages and enums of the contract, in the order of the files.
pub struct Contract {
    pub services: Vec<ServiceDef>,
    pub messages: Vec<MessageDef>,
    pub enums: Vec<EnumDef>,
}

pub struct ServiceDef {
    /// Such as `TrailblazeCommands`.
    pub name: String,
    pub doc: String,
    pub methods: Vec<MethodDef>,
    /// The platforms that its commands are for, sorted. Empty if all are.
    pub platforms: Vec<String>,
}

pub struct MethodDef {
    /// Such as `InputText`.
    pub name: String,
    pub doc: String,
    /// The names of messages.
    pub request: String,
    pub response: String,
    pub is_streaming: bool,
    /// `None` for methods that are not commands.
    pub command: Option<CommandDef>,
}

pub struct CommandDef {
    pub kind: CommandKind,
    /// All if empty.
    pub platforms: Vec<String>,
    pub is_hidden: bool,
    pub takes_reason: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    Action,
    Query,
    Assertion,
}

pub struct MessageDef {
    pub name: String,
    pub doc: String,
    pub fields: Vec<FieldDef>,
}

pub struct FieldDef {
    /// Such as `package_id`.
    pub name: String,
    /// Such as `packageId`.
    pub json: String,
    pub doc: String,
    pub number: u32,
    pub ty: FieldType,
    pub is_repeated: bool,
    /// Whether absent differs from the type's zero.
    pub is_optional: bool,
    pub is_required: bool,
    pub is_positional: bool,
    /// The default value.
    pub preset: Option<serde_json::Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldType {
    Bool,
    Int32,
    Double,
    Text,
    Bytes,
    /// The name of an enum.
    Enum(String),
    /// The name of a message.
    Message(String),
    /// From texts to messages of this name.
    Map(String),
    /// Any JSON value.
    Value,
    /// A JSON object.
    Struct,
}

pub struct EnumDef {
    /// Such as `LaunchMode`.
    pub name: String,
    pub doc: String,
    /// Such as `LAUNCH_MODE_`.
    pub prefix: String,
    /// Without the unspecified one.
    pub words: Vec<Word>,
}

pub struct Word {
    /// Without the prefix: `FORCE_RESTART`.
    pub name: String,
    pub doc: String,
    pub number: i32,
}

/// Why the contract cannot be read.
#[derive(Debug)]
pub struct ContractError(String);

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ContractError {}

pub fn wrong(text: impl fmt::Display) -> ContractError {
    ContractError(text.to_string())
}

/// The files of the API that tools and programs use.
const FILES: [&str; 7] = ["commands", "mobile", "web", "desktop", "memory", "session", "types"];
/// The file of the API that the studio's page uses.
const STUDIO: [&str; 1] = ["studio"];
const PACKAGE: &str = "trailblaze.v1";

impl Contract {
    /// Reads the contract in a folder of `.proto` files.
    pub fn read(folder: &Path) -> Result<Contract, ContractError> {
        let model = Contract::read_files(folder, &FILES)?;
        model.check_ids()?;
        Ok(model)
    }

    /// Reads what the studio's page asks of the daemon.
    pub fn read_studio(folder: &Path) -> Result<Contract, ContractError> {
        Contract::read_files(folder, &STUDIO)
    }

    fn read_files(folder: &Path, names: &[&str]) -> Result<Contract, ContractError> {
        let mut compiler = protox::Compiler::new([folder]).map_err(wrong)?;
        compiler.include_source_info(true).include_imports(true);
        let files: Vec<String> = names.iter().map(|name| format!("trailblaze/v1/{name}.proto")).collect();
        compiler.open_files(&files).map_err(|error| wrong(format!("{error:?}")))?;
        let pool = compiler.descriptor_pool();
        let mut model = Contract { services: Vec::new(), messages: Vec::new(), enums: Vec::new() };
        for name in &files {
            let file = pool.get_file_by_name(name).ok_or_else(|| wrong(format!("{name} is missing")))?;
            for service in file.services() {
                let methods = service.methods().map(|method| {
                    Ok(MethodDef {
                        name: method.name().to_string(),
                        doc: doc(&file, method.path()),
                        request: method.input().name().to_string(),
                        response: method.output().name().to_string(),
                        is_streaming: method.is_server_streaming(),
                        command: command(&pool, &method.options())?,
                    })
                });
                let methods = methods.collect::<Result<Vec<_>, ContractError>>()?;
                let own = extension(&pool, &service.options(), "platforms");
                let mut platforms = texts(own.as_ref());
                let commands = methods.iter().filter_map(|method| method.command.as_ref());
                platforms.extend(commands.flat_map(|command| command.platforms.iter().cloned()));
                platforms.sort();
                platforms.dedup();
                let (name, doc) = (service.name().to_string(), doc(&file, service.path()));
                model.services.push(ServiceDef { name, doc, methods, platforms });
            }
            for message in file.messages() {
                model.messages.push(read_message(&pool, &file, &message)?);
            }
            model.enums.extend(file.enums().map(|listed| read_enum(&file, &listed)));
        }
        model.check_comments()?;
        Ok(model)
    }

    pub fn message(&self, name: &str) -> &MessageDef {
        self.messages.iter().find(|message| message.name == name).expect("a message of the contract")
    }

    pub fn enumeration(&self, name: &str) -> &EnumDef {
        self.enums.iter().find(|listed| listed.name == name).expect("an enum of the contract")
    }

    /// Services with their methods, commands only.
    pub fn commands(&self) -> impl Iterator<Item = (&ServiceDef, &MethodDef, &CommandDef)> {
        self.services.iter().flat_map(|service| {
            service.methods.iter().filter_map(move |method| Some((service, method, method.command.as_ref()?)))
        })
    }

    fn check_comments(&self) -> Result<(), ContractError> {
        let silent = self.services.iter().flat_map(|service| &service.methods).find(|method| method.doc.is_empty());
        silent.map_or(Ok(()), |method| Err(wrong(format!("{} has no comment", method.name))))
    }

    fn check_ids(&self) -> Result<(), ContractError> {
        for method in self.services.iter().flat_map(|service| &service.methods) {
            let request = self.message(&method.request);
            for (id, number) in IDS.iter().zip(4..) {
                if !request.fields.iter().any(|field| field.name == **id && field.number == number) {
                    return Err(wrong(format!("{} must have `string {id} = {number}`", request.name)));
                }
            }
        }
        Ok(())
    }
}

impl MessageDef {
    /// The fields that callers set: all but the ids.
    pub fn params(&self) -> impl Iterator<Item = &FieldDef> {
        self.fields.iter().filter(|field| !IDS.contains(&field.name.as_str()))
    }

    /// Whether it says if a tool succeeded.
    pub fn is_result(&self) -> bool {
        self.fields.iter().any(|field| field.name == "success")
    }

    /// The value that a client returns in place of the message: its only field, or that of a result.
    pub fn value(&self) -> Option<&FieldDef> {
        let value = self.fields.iter().find(|field| field.name == "value");
        value.filter(|_| self.fields.len() == 1 || self.is_result())
    }

    /// The parameters that clients accept by position.
    pub fn positional(&self) -> Vec<&FieldDef> {
        let marked: Vec<&FieldDef> = self.params().filter(|field| field.is_positional).collect();
        if marked.is_empty() { self.params().filter(|field| field.is_required).collect() } else { marked }
    }
}

impl MethodDef {
    /// The name of the tool: `inputText`.
    pub fn tool(&self) -> String {
        self.name.to_lower_camel_case()
    }
}

impl CommandKind {
    /// As in Rust.
    pub fn name(self) -> &'static str {
        match self {
            CommandKind::Action => "Action",
            CommandKind::Query => "Query",
            CommandKind::Assertion => "Assertion",
        }
    }
}

fn read_message(
    pool: &DescriptorPool,
    file: &FileDescriptor,
    message: &MessageDescriptor,
) -> Result<MessageDef, ContractError> {
    let mut fields = Vec::new();
    let mut last_doc = String::new();
    // In the order of the file, which is the order in which people and models see parameters.
    for declared in &message.descriptor_proto().field {
        let field = message.get_field_by_name(declared.name()).ok_or_else(|| wrong("a field without a name"))?;
        let own = doc(file, field.path());
        // One comment may describe a group of fields.
        let doc = if own.is_empty() { last_doc.clone() } else { own };
        last_doc.clone_from(&doc);
        let options = field.options();
        let text = |name: &str| match extension(pool, &options, name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let flag = |name: &str| matches!(extension(pool, &options, name), Some(Value::Bool(true)));
        let preset = text("preset").map(|text| {
            serde_json::from_str(&text).map_err(|error| wrong(format!("the preset of {}: {error}", field.full_name())))
        });
        fields.push(FieldDef {
            name: field.name().to_string(),
            json: field.json_name().to_string(),
            doc,
            number: field.number(),
            ty: ty(&field)?,
            is_repeated: field.cardinality() == Cardinality::Repeated && !field.is_map(),
            is_optional: field.supports_presence(),
            is_required: flag("required"),
            is_positional: flag("positional"),
            preset: preset.transpose()?,
        });
    }
    Ok(MessageDef { name: message.name().to_string(), doc: doc(file, message.path()), fields })
}

fn read_enum(file: &FileDescriptor, listed: &EnumDescriptor) -> EnumDef {
    let zero = listed.default_value();
    let prefix = zero.name().trim_end_matches("UNSPECIFIED").to_string();
    let values = listed.values().filter(|value| value.number() != 0);
    let words = values.map(|value| Word {
        name: value.name().trim_start_matches(&prefix).to_string(),
        doc: doc(file, value.path()),
        number: value.number(),
    });
    EnumDef { name: listed.name().to_string(), doc: doc(file, listed.path()), words: words.collect(), prefix }
}

fn ty(field: &FieldDescriptor) -> Result<FieldType, ContractError> {
    Ok(match field.kind() {
        ProtoKind::Bool => FieldType::Bool,
        ProtoKind::Int32 => FieldType::Int32,
        ProtoKind::Double => FieldType::Double,
        ProtoKind::String => FieldType::Text,
        ProtoKind::Bytes => FieldType::Bytes,
        ProtoKind::Enum(listed) => FieldType::Enum(listed.name().to_string()),
        ProtoKind::Message(entry) if field.is_map() => match entry.map_entry_value_field().kind() {
            ProtoKind::Message(value) => FieldType::Map(value.name().to_string()),
            other => return Err(wrong(format!("{}: maps to {other:?} are not supported", field.full_name()))),
        },
        ProtoKind::Message(message) => match message.full_name() {
            "google.protobuf.Value" => FieldType::Value,
            "google.protobuf.Struct" => FieldType::Struct,
            _ => FieldType::Message(message.name().to_string()),
        },
        // In JSON, 64-bit numbers are texts.
        other => return Err(wrong(format!("{}: {other:?} is not supported", field.full_name()))),
    })
}

fn command(pool: &DescriptorPool, options: &DynamicMessage) -> Result<Option<CommandDef>, ContractError> {
    let Some(Value::Message(command)) = extension(pool, options, "command") else { return Ok(None) };
    let flag = |name: &str| command.get_field_by_name(name).and_then(|value| value.as_bool()).unwrap_or(false);
    let kind = command.get_field_by_name("kind").and_then(|value| value.as_enum_number());
    let kind = match kind {
        Some(1) => CommandKind::Action,
        Some(2) => CommandKind::Query,
        Some(3) => CommandKind::Assertion,
        _ => return Err(wrong("a command has no kind")),
    };
    let platforms = texts(command.get_field_by_name("platforms").as_deref());
    Ok(Some(CommandDef { kind, platforms, is_hidden: flag("hidden"), takes_reason: flag("reasoning") }))
}

/// The texts of a repeated field.
fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_list).unwrap_or_default();
    list.iter().filter_map(|text| text.as_str().map(str::to_string)).collect()
}

fn extension(pool: &DescriptorPool, options: &DynamicMessage, name: &str) -> Option<Value> {
    let extension = pool.all_extensions().find(|extension| {
        extension.full_name() == format!("{PACKAGE}.{name}") && extension.containing_message() == options.descriptor()
    })?;
    options.has_extension(&extension).then(|| options.get_extension(&extension).into_owned())
}

/// The comment above a declaration, as one line.
fn doc(file: &FileDescriptor, path: &[i32]) -> String {
    let info = file.file_descriptor_proto().source_code_info.as_ref();
    let location = info.and_then(|info| info.location.iter().find(|location| location.path == path));
    let comment = location.and_then(|location| location.leading_comments.as_deref()).unwrap_or_default();
    comment.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_string()
}
