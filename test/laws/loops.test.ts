import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

// A loop over nothing asserts nothing and passes. So a loop that asserts either runs over a list written
// down in the test, or is a law, which fails when it has no rows.

const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.ts'),
)

const unwrapped = (node: ts.Expression): ts.Expression =>
  ts.isAsExpression(node) ||
  ts.isSatisfiesExpression(node) ||
  ts.isParenthesizedExpression(node) ||
  ts.isAwaitExpression(node)
    ? unwrapped(node.expression)
    : node

/** Whether an expression is a list or an object with something in it, as it stands there. */
function isWritten(node: ts.Expression | undefined, written: ReadonlySet<string>): boolean {
  if (!node) return false
  const one = unwrapped(node)
  if (ts.isArrayLiteralExpression(one)) return one.elements.some((each) => !ts.isSpreadElement(each))
  if (ts.isObjectLiteralExpression(one)) return one.properties.some((each) => !ts.isSpreadAssignment(each))
  if (ts.isIdentifier(one)) return written.has(one.text)
  if (!ts.isCallExpression(one) || !ts.isPropertyAccessExpression(one.expression)) return false
  const { expression: of, name } = one.expression
  // Array.from({ length: 20 }), Object.entries({ … }) and Promise.all([…]).
  if (['Object', 'Array', 'Promise'].includes(of.getText())) return isWritten(one.arguments[0], written)
  return ['entries', 'keys', 'map'].includes(name.text) && isWritten(of, written)
}

const silent = ['comment', 'teardown', 'before', 'setTimeout', 'context']

/** Whether a node asserts anything, by itself or by a function to which it hands its test. */
function asserts(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) {
    const { expression: called } = node
    if (ts.isPropertyAccessExpression(called) && called.expression.getText() === 't')
      if (!silent.includes(called.name.text)) return true
    if (node.arguments.some((each) => ts.isIdentifier(each) && each.text === 't')) return true
  }
  return ts.forEachChild(node, (child) => asserts(child) || undefined) ?? false
}

/** Loops of a file that assert something of each row of a list that may be empty. */
function unsureLoops(file: string): readonly string[] {
  const text = readFileSync(join(root, 'test', file), 'utf8')
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
  const written = new Set<string>()
  const found: string[] = []
  const visit = (node: ts.Node, isInside: boolean): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && isWritten(node.initializer, written))
      written.add(node.name.text)
    const isLoop = ts.isForOfStatement(node) && asserts(node.statement)
    if (isLoop && !isInside && !isWritten(node.expression, written))
      found.push(`${file}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
    ts.forEachChild(node, (child) => visit(child, isInside || isLoop))
  }
  visit(tree, false)
  return found
}

t.test('a test that asserts something of each row of a list fails when there is none', async (t) => {
  await lawOver(t, files, (file) => t.strictSame(unsureLoops(file), [], `use lawOver in ${file}`))
})

t.test('a law over nothing fails, and one over something does not', async (t) => {
  const failures: unknown[] = []
  const fail = (...why: readonly unknown[]) => {
    failures.push(...why)
    return false
  }
  const judged: string[] = []
  const judge = (row: string) => judged.push(row)
  await lawOver({ fail }, ['one', 'two'], judge)
  t.strictSame([judged, failures], [['one', 'two'], []])
  await lawOver({ fail }, [], judge)
  t.strictSame(failures, ['the law is over nothing'])
})
