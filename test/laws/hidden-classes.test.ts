import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'

// V8 gives every object a hidden class of its own whose accessors are closures of its own. It stays until the
// whole heap is collected, and holds what the closures hold: a getter in the line that was logged for each
// request doubled the time of garbage collection, and cost a tenth of all payouts. Classes share theirs.

const files = ['services', 'packages', 'infra', 'projections'].flatMap((directory) =>
  readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(directory, name)),
)

/** Lines of a file where an object literal has an accessor. */
function ownHiddenClasses(file: string): readonly number[] {
  const tree = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ES2022, true)
  const found: number[] = []
  const visit = (node: ts.Node): void => {
    const isAccessor = ts.isGetAccessorDeclaration(node) || ts.isSetAccessorDeclaration(node)
    if (isAccessor && ts.isObjectLiteralExpression(node.parent))
      found.push(tree.getLineAndCharacterOfPosition(node.getStart()).line + 1)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

t.test('only classes have accessors', async (t) => {
  await lawOver(t, files, (file) => t.same(ownHiddenClasses(file), [], file))
})
