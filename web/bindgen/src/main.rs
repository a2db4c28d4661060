//! `bindgen MODULE.wasm FOLDER` writes the JavaScript module for MODULE into FOLDER, as
//! `wasm-bindgen --target web` does.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &arguments[..] else {
        eprintln!("usage: bindgen MODULE.wasm FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let generated = (bindgen.input_path(module).typescript(false).web(true))
        .and_then(|bindgen| bindgen.generate(folder));
    match generated {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:#}");
            ExitCode::from(2)
        }
    }
}
