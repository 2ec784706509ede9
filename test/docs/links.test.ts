import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const pages = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
].filter((name) => name.endsWith('.md'))

test.each(pages)('the links of %s lead somewhere', (page) => {
  const text = readFileSync(join(root, page), 'utf8').replace(/```[\s\S]*?```/g, '')
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!).filter((target) => !/^[a-z]+:/.test(target))
  expect(targets.filter((target) => !existsSync(resolve(root, dirname(page), target)))).toEqual([])
})

test.each(pages)('the files that %s names are there', (page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const named = [...text.matchAll(/`((?:src|test|docs|bench)\/[\w./-]+\.ts)`/g)].map((match) => match[1]!)
  expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([])
})
