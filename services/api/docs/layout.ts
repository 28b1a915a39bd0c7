import { html, type Html } from './html.ts'

const product = 'IKW Payments'

const pages = [
  ['/docs', 'API reference'],
  ['/docs/errors', 'Errors'],
  ['/docs/webhooks', 'Webhooks'],
  ['/docs/sandbox', 'Sandbox'],
] as const

export interface Page {
  readonly path: string
  readonly title: string
  readonly lead: Html
  readonly content: Html
}

/** The navigation bar. */
export function bar(path: string): Html {
  const links = pages.map(
    ([address, name]) =>
      html`<a href="${address}" ${address === path && html` aria-current="page"`}>${name}</a>`,
  )
  return html`<header class="bar">
    <nav aria-label="Documentation">
      <a class="brand" href="/"
        ><img src="/docs/assets/icon.svg" alt="" width="22" height="22" />${product}</a
      >
      <span class="pages">${links}</span>
    </nav>
  </header>`
}

/** A complete page: navigation bar, title, content. */
export function layout({ path, title, lead, content }: Page): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}${title !== product && ` · ${product}`}</title>
        <link rel="stylesheet" href="/docs/assets/style.css" />
        <link rel="icon" href="/docs/assets/icon.svg" />
      </head>
      <body>
        ${bar(path)}
        <main>
          <h1>${title}</h1>
          <p class="lead">${lead}</p>
          ${content}
        </main>
      </body>
    </html> `.text
}

/** A table with a header, which scrolls on its own on narrow screens. */
export function table(head: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head.map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

export function code(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>`
}
