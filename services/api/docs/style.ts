/** The navigation bar, which the reference has as well. */
const bar = `
.bar { position: sticky; top: 0; z-index: 1; background: var(--card); border-bottom: 1px solid var(--line); }
.bar nav { max-width: 62rem; margin: 0 auto; padding: .65rem 1.25rem; display: flex; flex-wrap: wrap;
  gap: .3rem 1.75rem; align-items: center; }
.brand { display: inline-flex; gap: .55rem; align-items: center; font-weight: 650; color: var(--text);
  text-decoration: none; }
.pages { display: flex; flex-wrap: wrap; gap: .2rem 1.25rem; font-size: .94rem; }
.pages a { color: var(--soft); text-decoration: none; padding: .15rem 0; }
.pages a:hover { color: var(--text); }
.pages a[aria-current] { color: var(--text); box-shadow: 0 2px 0 var(--link); }
`

/** The only stylesheet: system fonts, light or dark by the reader's preference. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #fbfbf9; --card: #ffffff; --line: #e3e2dc; --text: #1d1d1b; --soft: #5d5c57; --link: #0b5f4b;
  --mark: #e6f2ee; --good: #0b5f4b; --bad: #a33022; --code: #f3f2ed;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #141514; --card: #1c1e1c; --line: #30332f; --text: #ebebe6; --soft: #a5a59d; --link: #6fcfb0;
    --mark: #1d3a31; --good: #6fcfb0; --bad: #f0998c; --code: #232623;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
${bar}
main { max-width: 62rem; margin: 0 auto; padding: 2.25rem 1.25rem 5rem; }
h1 { font-size: clamp(1.7rem, 5vw, 2.3rem); line-height: 1.2; letter-spacing: -.02em; margin: 0 0 .6rem; }
h2 { font-size: 1.3rem; letter-spacing: -.01em; line-height: 1.3; margin: 2.75rem 0 .6rem; }
h3 { font-size: 1.02rem; margin: 0; }
p { margin: .6rem 0; max-width: 46rem; }
.lead { font-size: 1.1rem; color: var(--soft); margin-bottom: 1.75rem; }
code, pre { font: .875em/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--code); border-radius: 4px; padding: .1em .32em; overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1.1rem;
  overflow-x: auto; margin: .9rem 0; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.scroll { overflow-x: auto; margin: .9rem 0; border: 1px solid var(--line); border-radius: 8px;
  background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: .94rem; }
th, td { text-align: left; vertical-align: top; padding: .55rem .9rem; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--soft); font-weight: 600; font-size: .84rem; white-space: nowrap; }
td code { overflow-wrap: normal; white-space: nowrap; }
td:last-child code { white-space: normal; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem;
  margin: 1.25rem 0; }
.card { display: block; background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1rem 1.15rem; color: inherit; text-decoration: none; }
a.card:hover { border-color: var(--link); }
.card b { color: var(--link); }
.card span { display: block; color: var(--soft); font-size: .94rem; margin-top: .2rem; }
.toc { columns: 15rem; column-gap: 2rem; list-style: none; padding: 0; margin: 1rem 0; font-size: .94rem; }
.toc li { break-inside: avoid; padding: .12rem 0; }
.error { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.15rem;
  margin: .85rem 0; }
.error:target { border-color: var(--link); background: var(--mark); }
.error h3 { display: flex; flex-wrap: wrap; gap: .3rem .7rem; align-items: baseline; }
.error h3 a { color: inherit; text-decoration: none;
  font: 600 1rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.error h3 a:hover { color: var(--link); text-decoration: underline; }
.error p { margin: .45rem 0 0; }
.status { color: var(--soft); font-weight: 400; font-size: .94rem; }
.retry { font-weight: 500; font-size: .84rem; color: var(--bad); margin-left: auto; }
.retry.yes { color: var(--good); }
.error details { margin-top: .5rem; font-size: .9rem; color: var(--soft); }
.error summary { cursor: pointer; }
.error ul { margin: .4rem 0 0; padding-left: 1.2rem; }
@media (max-width: 40rem) {
  td:first-child { min-width: 7.5rem; }
  td:first-child code { white-space: normal; overflow-wrap: anywhere; }
  .retry { margin-left: 0; flex-basis: 100%; }
  main { padding-top: 1.5rem; }
}
`.trim()

/** Redoc brings its own styles, in light only. */
export const referenceStyle = `
:root { color-scheme: light; --card: #ffffff; --line: #e3e2dc; --text: #1d1d1b; --soft: #5d5c57;
  --link: #0b5f4b; }
* { box-sizing: border-box; }
body { margin: 0; background: #ffffff;
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
noscript { display: block; padding: 2rem; }
${bar}
.bar { position: static; }
.bar nav { max-width: none; }
`.trim()

/** A ledger's two columns. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">
<rect width="24" height="24" rx="6" fill="#0b5f4b"/>
<path d="M12 5v14M5.5 9h4M5.5 13h4M14.5 11h4M14.5 15h4"
 stroke="#fff" stroke-width="1.8" stroke-linecap="round"/></svg>`
