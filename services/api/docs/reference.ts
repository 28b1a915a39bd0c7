import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { bar } from './layout.ts'

/**
 * Redoc reads the document in the browser. Its theme is an attribute, because the page may contain no script.
 */
const theme = {
  colors: { primary: { main: '#0b5f4b' }, text: { primary: '#1d1d1b' } },
  typography: {
    fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
    fontSize: '15px',
    headings: { fontFamily: 'inherit', fontWeight: '650' },
    code: {
      fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
      fontSize: '13px',
      color: '#0b5f4b',
      wrap: true,
    },
  },
  spacing: { sectionVertical: 24 },
  sidebar: { width: '280px', backgroundColor: '#fbfbf9' },
  rightPanel: { backgroundColor: '#1c2420' },
}

const quoted = (value: object) => JSON.stringify(value).replaceAll('&', '&amp;').replaceAll("'", '&#39;')

export const referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · IKW Payments</title>
<link rel="icon" href="/docs/assets/icon.svg">
<link rel="stylesheet" href="/docs/assets/reference.css">
</head>
<body>
${bar('/docs').text}
<noscript>The reference needs JavaScript.
The document itself is <a href="/openapi.json">/openapi.json</a>.</noscript>
<redoc spec-url="/openapi.json" theme='${quoted(theme)}' required-props-first sort-required-props-first
 hide-download-button expand-single-schema-field json-sample-expand-level="3" path-in-middle-panel></redoc>
<script src="/docs/assets/redoc.js"></script>
</body>
</html>
`

/** Redoc as published on npm, except for the one image that it would load from elsewhere. */
export function redocBundle(): string {
  const file = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')
  return readFileSync(file, 'utf8').replaceAll(
    'https://cdn.redoc.ly/redoc/logo-mini.svg',
    '/docs/assets/icon.svg',
  )
}
