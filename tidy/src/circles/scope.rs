//! The names that a module defines, imports and mentions, as written and unresolved.
//!
//! Code that is compiled only for tests is omitted.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Stmt, UseTree, Visibility};

/// The segments of a path.
pub type Segments = Vec<String>;

/// One module.
#[derive(Default)]
pub struct Scope {
    /// Names of items; a macro that is visible in the whole crate is in `exported`.
    pub defined: Vec<String>,
    /// Names of macros with `#[macro_export]`.
    pub exported: Vec<String>,
    /// Modules that have their own files.
    pub declared: Vec<String>,
    /// Inline modules with their content.
    pub inline: Vec<(String, Scope)>,
    /// Names imported with `use`; the module's imports come before the imports in function bodies.
    pub imports: Vec<Import>,
    /// All other paths.
    pub paths: Vec<Segments>,
}

/// One leaf of a `use` tree.
pub struct Import {
    /// Name in the module; `None` for `*`.
    pub name: Option<String>,
    /// Full path.
    pub path: Segments,
    /// Whether other modules can use the name from here.
    pub reexport: bool,
}

impl Scope {
    /// Collects the items of a module.
    pub fn of(items: &[Item]) -> Self {
        let mut scope = Self::default();
        for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
            scope.define(item);
        }
        // Imports in function bodies are looked up last, so that they do not shadow the module's names.
        let (uses, others): (Vec<&Item>, _) = items.iter().partition(|item| matches!(item, Item::Use(_)));
        uses.into_iter().chain(others).for_each(|item| scope.visit_item(item));
        scope
    }

    fn define(&mut self, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::TraitAlias(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            Item::Macro(item) => {
                let Some(name) = &item.ident else { return };
                if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
                    self.exported.push(name.to_string());
                }
                name
            }
            Item::Mod(item) => {
                let name = item.ident.to_string();
                match &item.content {
                    Some((_, items)) => self.inline.push((name, Self::of(items))),
                    None => self.declared.push(name),
                }
                return;
            }
            _ => return,
        };
        self.defined.push(name.to_string());
    }

    fn import(&mut self, tree: &UseTree, above: &Segments, reexport: bool) {
        let below = |name: &str| above.iter().cloned().chain([name.to_owned()]).collect::<Segments>();
        let mut add = |name: Option<String>, path: Segments| {
            self.imports.push(Import { name, path, reexport });
        };
        match tree {
            UseTree::Path(tree) => self.import(&tree.tree, &below(&tree.ident.to_string()), reexport),
            UseTree::Name(tree) if tree.ident == "self" => add(above.last().cloned(), above.clone()),
            UseTree::Name(tree) => add(Some(tree.ident.to_string()), below(&tree.ident.to_string())),
            UseTree::Rename(tree) if tree.ident == "self" => {
                add(Some(tree.rename.to_string()), above.clone());
            }
            UseTree::Rename(tree) => add(Some(tree.rename.to_string()), below(&tree.ident.to_string())),
            UseTree::Glob(_) => add(None, above.clone()),
            UseTree::Group(tree) => tree.items.iter().for_each(|tree| self.import(tree, above, reexport)),
        }
    }

    /// Adds the paths in tokens that are not parsed, as in macros and attributes.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path = Segments::new();
        let (mut colons, mut is_name) = (0, true);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    }
                    if is_name || colons == 2 && !path.is_empty() {
                        path.push(name.to_string());
                    }
                    (colons, is_name) = (0, true);
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                other => {
                    self.paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    colons = 0;
                    // A name after a dot is a field or method, and after an apostrophe a lifetime.
                    is_name = !matches!(&other, TokenTree::Punct(mark) if ".'".contains(mark.as_char()));
                    if let TokenTree::Group(group) = other {
                        self.scan(group.stream());
                    }
                }
            }
        }
        self.paths.extend((!path.is_empty()).then_some(path));
    }
}

impl<'ast> Visit<'ast> for Scope {
    fn visit_item(&mut self, item: &'ast Item) {
        // A module has its own scope.
        if !is_for_tests(attributes(item)) && !matches!(item, Item::Mod(_)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let reexport = !matches!(item.vis, Visibility::Inherited);
        self.import(&item.tree, &Segments::new(), reexport);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Fn(item) => &item.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !is_for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !is_for_tests(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !is_for_tests(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_field_value(&mut self, value: &'ast syn::FieldValue) {
        if !is_for_tests(&value.attrs) {
            visit::visit_field_value(self, value);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes = match statement {
            Stmt::Local(local) => local.attrs.as_slice(),
            Stmt::Macro(invocation) => &invocation.attrs,
            Stmt::Expr(Expr::Block(block), _) => &block.attrs,
            Stmt::Expr(Expr::If(branch), _) => &branch.attrs,
            Stmt::Expr(Expr::Call(call), _) => &call.attrs,
            Stmt::Expr(Expr::MethodCall(call), _) => &call.attrs,
            Stmt::Expr(Expr::Assign(assign), _) => &assign.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        visit::visit_macro(self, invocation);
        self.scan(invocation.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta
            && !["cfg", "cfg_attr"].iter().any(|name| list.path.is_ident(name))
        {
            self.scan(list.tokens.clone());
        }
    }

    /// Ignores `pub(super)`, which is not a dependency on the parent.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition == "test" || condition.starts_with("all") && condition.contains("test")
        }
        syn::Meta::Path(path) => path.is_ident("test"),
        _ => false,
    })
}
