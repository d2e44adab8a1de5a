//! The modules of a program, as the engine asks for them.

use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::{Ctx, Exception, Module};

use crate::program::Program;

/// Finds and loads the modules of a program.
pub(crate) struct LinkedProgram(pub Arc<Program>);

impl Resolver for LinkedProgram {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        let found = self.0.resolve(base, name).map(str::to_string);
        found.ok_or_else(|| Exception::throw_reference(ctx, &format!("the module `{name}` is not part of the program")))
    }
}

impl Loader for LinkedProgram {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        path: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js>> {
        let Some(code) = self.0.code(path) else {
            return Err(Exception::throw_reference(ctx, &format!("the module `{path}` is not part of the program")));
        };
        Module::declare(ctx.clone(), path, code)
    }
}
