//! Links: each leads to a file and a heading, in the repository and on the site.
#![cfg(feature = "gpu")]
use std::fs;
use std::path::{Path, PathBuf};

use crate::readme::{ROOT, commands, parse, printed, text_of};

/// Pages outside of docs/.
const OTHERS: [&str; 9] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "benches/RESULTS.md",
    "examples/README.md",
    "python/README.md",
    "tests/README.md",
    "web/package/README.md",
];

/// The pages of `folder`, sorted.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    assert!(pages.len() > 20, "{pages:?}");
    pages
}

/// The targets of the links of a page, but those to other hosts.
fn links(page: &str) -> Vec<String> {
    let prose = parse(page).1.join("\n");
    let links = prose.split("](").skip(1).map(|rest| rest.split(')').next().unwrap().to_owned());
    links.filter(|link| !link.contains("://")).collect()
}

/// The name by which GitHub and mdBook link to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

fn has_anchor(page: &str, name: &str) -> bool {
    let headings = parse(page).1.into_iter().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches(['#', ' ']))).any(|found| found == name)
}

/// The links of the page at `path` that lead to no file, or to no heading of it.
fn broken(path: &Path) -> Vec<String> {
    let is_broken = |link: &String| {
        let (file, heading) = link.split_once('#').unwrap_or((link, ""));
        let file = if file.is_empty() { path.to_owned() } else { path.with_file_name(file) };
        let has_heading = || has_anchor(&fs::read_to_string(&file).unwrap(), heading);
        !file.exists() || !(heading.is_empty() || has_heading())
    };
    let all = links(&fs::read_to_string(path).unwrap()).into_iter();
    all.filter(is_broken).map(|link| format!("{}: {link}", path.display())).collect()
}

#[test]
fn files_and_headings_that_pages_link_to_are_there() {
    let others = OTHERS.map(|page| Path::new(ROOT).join(page));
    let all = pages(&Path::new(ROOT).join("docs")).into_iter().chain(others);
    let broken: Vec<String> = all.flat_map(|page| broken(&page)).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn files_that_comments_name_are_there() {
    let mut named = 0;
    for pattern in ["src/**/*.rs", "shaders/**/*.wgsl"] {
        for path in glob::glob(&format!("{ROOT}/{pattern}")).unwrap() {
            let path = path.unwrap();
            let text = fs::read_to_string(&path).unwrap();
            let words = text.split(|c: char| !(c.is_alphanumeric() || "_-/.".contains(c)));
            let files = words.map(|word| word.trim_end_matches('.')).filter(|word| {
                ["src/", "shaders/"].iter().any(|f| word.len() > f.len() && word.starts_with(f))
            });
            for file in files {
                assert!(Path::new(ROOT).join(file).exists(), "{}: {file}", path.display());
                named += 1;
            }
        }
    }
    assert!(named > 15, "{named} files");
}

#[test]
fn the_summary_lists_every_page_once() {
    let pages = pages(&Path::new(ROOT).join("docs"));
    let name = |page: &PathBuf| page.file_name().unwrap().to_str().unwrap().to_owned();
    let mut listed = links(&text_of("docs/SUMMARY.md"));
    listed.push("SUMMARY.md".to_owned());
    listed.sort();
    assert_eq!(listed, pages.iter().map(name).collect::<Vec<_>>());
}

#[cfg(unix)]
#[test]
fn links_of_the_site_are_there_and_its_help_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_voxelize")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let site = Path::new(ROOT).join("docs/site");
    let mut site = std::process::Command::new(site);
    let made = site.arg(folder.path()).env("PATH", path).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let pages = pages(&folder.path().join("pages"));
    let broken: Vec<String> = pages.iter().flat_map(|page| broken(page)).collect();
    assert_eq!(broken, Vec::<String>::new());
    let page = fs::read_to_string(folder.path().join("pages/cli.md")).unwrap();
    for name in commands(&printed(&["--help"])) {
        let help = printed(&[name, "--help"]);
        let usage = help.lines().find(|line| line.starts_with("Usage: ")).unwrap();
        assert!(page.contains(&format!("## voxelize {name}\n")) && page.contains(usage), "{name}");
    }
}

#[test]
fn canary_links_and_anchors_are_read() {
    assert_eq!(anchor("My model lies on its side: `--up`"), "my-model-lies-on-its-side---up");
    let found = links("[a](b.md#c) ![d](e.svg)\n```\n[f](g)\n```\n[h](https://i)");
    assert_eq!(found, ["b.md#c", "e.svg"]);
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    fs::write(&page, "# A b\n[1](#a-b) [2](page.md#a-b) [3](#c) [4](other.md)").unwrap();
    let found = broken(&page);
    let are_these = found[0].ends_with("#c") && found[1].ends_with("other.md");
    assert!(found.len() == 2 && are_these, "{found:?}");
}
