/** The style of all pages that are not documentation. Sizes follow the reader's own. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #eef1f0; --card: #fff; --ink: #14211d; --soft: #4b5a55; --line: #87948f; --faint: #dde3e1;
  --accent: #0a5c49; --on-accent: #fff; --glow: #0a5c4933; --tint: #e6f2ee;
  --wrong: #a3161f; --wrong-tint: #fdeced; --good: #0a6b3d; --note: #6b4a00; --note-tint: #fff3d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1412; --card: #17211e; --ink: #eef4f1; --soft: #b3c2bc; --line: #7f918a; --faint: #2a3733;
    --accent: #6fd6b8; --on-accent: #05261d; --glow: #6fd6b844; --tint: #1c302a;
    --wrong: #ffb3b3; --wrong-tint: #3a1a1c; --good: #7fe0a8; --note: #ffdf9a; --note-tint: #372b10;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  display: flex; flex-direction: column; align-items: center; padding: 1rem 0.75rem;
}
main {
  width: 100%; max-width: 27rem; background: var(--card); border-radius: 1rem; padding: 1.25rem;
  box-shadow: 0 1px 3px #0002, 0 8px 28px #0000000f; overflow-wrap: anywhere;
}
@media (min-width: 40rem) { body { padding-top: 3rem; } main { padding: 2rem; } }
h1 { font-size: 1.3rem; line-height: 1.3; margin: 0.5rem 0; }
.brand + h1 { margin-top: 1.25rem; } .brand + h1.due { margin-top: 1rem; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 0.5rem; }
p { margin: 0.5rem 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
.brand { display: flex; align-items: center; gap: 0.75rem; font-weight: 600; overflow-wrap: anywhere; }
.logo {
  flex: none; width: 2.5rem; height: 2.5rem; border-radius: 50%; background: var(--accent);
  color: var(--on-accent); display: grid; place-items: center; font-size: 0.95rem;
}
img.logo { border-radius: 0.5rem; background: #fff; object-fit: contain; }
.soft, .hint { color: var(--soft); }
.hint { font-size: 0.9rem; margin: 0.25rem 0 0; }
.due { margin: 1rem 0 0.25rem; }
.due .label { color: var(--soft); font-size: 0.95rem; font-weight: 400; display: block; }
.amount { display: inline-block; }
.sum { font-size: min(2rem, max(1rem, (100vw - 4rem) / 5.2)); line-height: 1.2; font-weight: 700; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
fieldset { border: 0; margin: 1.25rem 0 0; padding: 0; min-width: 0; }
legend, .field > label { font-weight: 600; padding: 0; margin-bottom: 0.4rem; display: block; }
.choices { display: grid; gap: 0.5rem; }
.choice {
  display: flex; align-items: center; gap: 0.75rem; min-height: 3rem; padding: 0.5rem 0.9rem; cursor: pointer;
  border: 1px solid var(--line); border-radius: 0.7rem;
}
.choice:has(:checked) { border-color: var(--accent); background: var(--tint); box-shadow: inset 0 0 0 1px var(--accent); }
.choice:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: 2px; }
.choice input { accent-color: var(--accent); width: 1.15rem; height: 1.15rem; margin: 0; flex: none; }
.field { margin: 1.25rem 0 0; }
.typed {
  display: flex; flex-wrap: wrap; align-items: stretch; border: 1px solid var(--line); border-radius: 0.7rem; overflow: hidden;
  background: var(--card);
}
.typed:focus-within { border-color: var(--accent); box-shadow: 0 0 0 3px var(--glow); outline: 2px solid var(--accent); }
.typed span { padding: 0 0.9rem; display: grid; place-items: center; background: var(--faint); color: var(--ink); }
.typed input {
  flex: 1 1 8rem; min-width: 0; min-height: 3rem; border: 0; padding: 0.75rem 0.9rem; font: inherit; font-size: 1.15rem;
  color: inherit; background: transparent; outline: 0; font-variant-numeric: tabular-nums;
}
.is-wrong .typed { border-color: var(--wrong); }
.fault { color: var(--wrong); font-size: 0.9rem; margin: 0.3rem 0 0; }
.remember { display: flex; gap: 0.6rem; align-items: center; margin-top: 0.9rem; min-height: 1.5rem; }
.remember input { accent-color: var(--accent); width: 1.15rem; height: 1.15rem; margin: 0; }
button, .button {
  display: block; width: 100%; min-height: 3.2rem; margin-top: 1.1rem; padding: 0.7rem min(1rem, 3vw); border-radius: 0.8rem;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); font: inherit;
  font-size: min(1.1rem, max(1rem, 9vw)); font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
}
button.second, .button.second { background: transparent; color: var(--accent); }
button.quiet { border-color: transparent; background: transparent; color: var(--accent); font-weight: 400; font-size: 1rem; margin-top: 0.5rem; text-decoration: underline; }
button:focus-visible, a:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 0.4rem; }
button[aria-disabled='true'] { opacity: 0.75; cursor: progress; }
.or { text-align: center; color: var(--soft); margin: 1rem 0 0; }
.alert { background: var(--wrong-tint); color: var(--wrong); border-radius: 0.7rem; padding: 0.75rem 0.9rem; margin: 1rem 0 0; }
.alert p { margin: 0; } .alert p + p { margin-top: 0.25rem; }
.test { background: var(--note-tint); color: var(--note); border-radius: 0.7rem; padding: 0.4rem 0.9rem; margin: 0 0 0.75rem; font-size: 0.9rem; max-width: 27rem; }
.steps { padding-left: 1.25rem; margin: 1rem 0; } .steps li { margin: 0.4rem 0; }
.wait { display: flex; gap: 0.75rem; align-items: center; color: var(--soft); margin-top: 1rem; }
.wait::before {
  content: ''; flex: none; width: 1.4rem; height: 1.4rem; border-radius: 50%;
  border: 3px solid var(--faint); border-top-color: var(--accent); animation: turn 1s linear infinite;
}
@keyframes turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .wait::before { animation-duration: 6s; } }
.sign { width: 3.5rem; height: 3.5rem; margin: 1rem 0 0; color: var(--good); }
dl { margin: 1rem 0 0; display: grid; grid-template-columns: fit-content(50%) 1fr; gap: 0.4rem 1rem; }
dt { color: var(--soft); overflow-wrap: anywhere; } dd { margin: 0; text-align: right; overflow-wrap: break-word; min-width: 0; font-variant-numeric: tabular-nums; }
dt, dd, .what, .brand span { unicode-bidi: plaintext; } dt, .what { text-align: left; }
@media (max-width: 15rem) { dl { grid-template-columns: 1fr; gap: 0 } dd { text-align: left; margin-bottom: 0.5rem; } }
ul.items { list-style: none; margin: 0; padding: 0; }
.items li { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; padding: 0.9rem 0; border-top: 1px solid var(--faint); }
.items .what { flex: 1 1 6rem; min-width: 0; font-weight: 600; overflow-wrap: anywhere; } .much { margin-left: auto; text-align: right; font-variant-numeric: tabular-nums; }
.items li > :nth-child(n + 3) { flex: 0 0 100%; min-width: 0; } .items .button { margin-top: 0.5rem; }
details { margin-top: 1rem; } summary { cursor: pointer; min-height: 1.5rem; color: var(--accent); }
footer { width: 100%; max-width: 27rem; display: flex; justify-content: space-between; gap: 1rem; padding: 1rem 0.25rem; color: var(--soft); font-size: 0.9rem; }
footer a { min-height: 1.5rem; }
[hidden] { display: none !important; }
`
