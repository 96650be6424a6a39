//! The modules of a crate, and the files that define the items used in their code.

use std::collections::{BTreeMap, BTreeSet};

use super::scope::{Scope, Segments};
use crate::tree::Tree;

/// For each file of a crate, the files that its code depends on, each with one of the items that it uses.
pub type Needs = BTreeMap<String, BTreeMap<String, String>>;

/// A tree of modules. The first module is the root.
#[derive(Default)]
pub struct Modules {
    all: Vec<Module>,
    exported: BTreeMap<String, usize>,
}

struct Module {
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    scope: Scope,
}

/// What a path in code refers to.
enum Place {
    Module,
    Item { module: usize, name: String },
}

impl Modules {
    /// Reads the module tree whose root is the file `root`.
    pub fn read(tree: &Tree, root: &str) -> Result<Self, (String, syn::Error)> {
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut modules = Self::default();
        modules.add_file(tree, root, folder, None)?;
        Ok(modules)
    }

    fn add_file(
        &mut self,
        tree: &Tree,
        file: &str,
        folder: &str,
        parent: Option<usize>,
    ) -> Result<usize, (String, syn::Error)> {
        let text = tree.text(file).unwrap_or_default();
        let parsed = syn::parse_file(text).map_err(|error| (file.to_owned(), error))?;
        self.add(tree, (file, folder), Scope::of(&parsed.items), parent)
    }

    /// Adds a module whose children with files are in `folder`.
    fn add(
        &mut self,
        tree: &Tree,
        (file, folder): (&str, &str),
        mut scope: Scope,
        parent: Option<usize>,
    ) -> Result<usize, (String, syn::Error)> {
        let module = self.all.len();
        let inline = std::mem::take(&mut scope.inline);
        let declared = std::mem::take(&mut scope.declared);
        self.exported.extend(scope.exported.iter().map(|name| (name.clone(), module)));
        self.all.push(Module { file: file.to_owned(), parent, children: BTreeMap::new(), scope });
        for (name, scope) in inline {
            let place = (file, &*format!("{folder}/{name}"));
            let child = self.add(tree, place, scope, Some(module))?;
            self.all[module].children.insert(name, child);
        }
        for name in declared {
            let below = format!("{folder}/{name}");
            let files = [format!("{below}.rs"), format!("{below}/mod.rs")];
            if let Some(file) = files.iter().find(|file| tree.source(file).is_some()) {
                let child = self.add_file(tree, file, &below, Some(module))?;
                self.all[module].children.insert(name, child);
            }
        }
        Ok(module)
    }

    /// Returns the dependencies of each file on other files.
    ///
    /// Re-exporting an item of a child module is not a dependency, because the module is a façade.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::new();
        for (at, module) in self.all.iter().enumerate() {
            let imports = module.scope.imports.iter().map(|import| (&import.path, import.reexport));
            let paths = module.scope.paths.iter().map(|path| (path, false));
            for (path, reexport) in imports.chain(paths) {
                let Some(Place::Item { module: other, name }) = self.find(at, path) else { continue };
                let file = &self.all[other].file;
                if *file != module.file && !(reexport && self.is_below(other, at)) {
                    needs.entry(module.file.clone()).or_default().entry(file.clone()).or_insert(name);
                }
            }
        }
        needs
    }

    fn is_below(&self, module: usize, above: usize) -> bool {
        std::iter::successors(Some(module), |&at| self.all[at].parent).any(|at| at == above)
    }

    fn find(&self, at: usize, path: &Segments) -> Option<Place> {
        self.resolve(at, path, &mut BTreeSet::new())
    }

    /// Resolves a path relative to module `at`, through imports and re-exports; `None` if it leads out of the
    /// crate.
    ///
    /// Follows each import only once, so that imports such as `use log::log` do not cause an endless loop.
    fn resolve(&self, at: usize, path: &[String], followed: &mut BTreeSet<(usize, usize)>) -> Option<Place> {
        let Some((first, rest)) = path.split_first() else { return Some(Place::Module) };
        let module = &self.all[at];
        match first.as_str() {
            "crate" => return self.resolve(0, rest, followed),
            "self" => return self.resolve(at, rest, followed),
            "super" => return self.resolve(module.parent?, rest, followed),
            _ => {}
        }
        let child = module.children.get(first);
        if let Some(&child) = child.filter(|_| !rest.is_empty())
            && let Some(place) = self.resolve(child, rest, followed)
        {
            return Some(place);
        }
        if module.scope.defined.contains(first) {
            return Some(Place::Item { module: at, name: first.clone() });
        }
        if child.is_some() {
            return Some(Place::Module);
        }
        let imports = module.scope.imports.iter().enumerate();
        let named = imports.clone().filter(|(_, import)| import.name.as_ref() == Some(first));
        let named = named.map(|(place, import)| (place, [&import.path, rest].concat()));
        let globs = imports.filter(|(_, import)| import.name.is_none());
        let globs = globs.map(|(place, import)| (place, [&import.path, path].concat()));
        let mut follow = |(place, path): (usize, Segments)| {
            followed.insert((at, place)).then(|| self.resolve(at, &path, followed)).flatten()
        };
        named.chain(globs).find_map(&mut follow).or_else(|| self.exported_macro(at, first))
    }

    fn exported_macro(&self, at: usize, name: &str) -> Option<Place> {
        let &module = self.exported.get(name).filter(|_| at == 0)?;
        Some(Place::Item { module, name: name.to_owned() })
    }
}
