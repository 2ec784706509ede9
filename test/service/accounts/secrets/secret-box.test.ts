import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSecretKeys } from '../../../../src/engine/storage/files/secret-key-file.ts'
import { createSecretBox, newSecretKey } from '../../../../src/service/accounts/secrets/secret-box.ts'

const [first, second] = [newSecretKey(), newSecretKey()]

test('what one key sealed is opened with it, also beside a newer key, which seals from then on', () => {
  const sealed = createSecretBox([first]).seal('pass word', 'export 1')
  expect(sealed).not.toContain('pass word')
  const rotated = createSecretBox([second, first])
  expect(rotated.open(sealed, 'export 1')).toBe('pass word')
  expect([rotated.isCurrent(sealed), rotated.isCurrent(rotated.seal('x', 'export 1'))]).toEqual([false, true])
  expect(createSecretBox([second]).open(rotated.seal('x', 'export 1'), 'export 1')).toBe('x')
})

test('the same secret is never sealed the same', () => {
  const box = createSecretBox([first])
  expect(box.seal('x', 'a')).not.toBe(box.seal('x', 'a'))
})

test('without its key, in another record, or changed, it cannot be opened', () => {
  const box = createSecretBox([first])
  const sealed = box.seal('pass word', 'export 1')
  expect(() => createSecretBox([second]).open(sealed, 'export 1')).toThrow(/which this server does not have/)
  expect(() => box.open(sealed, 'export 2')).toThrow(/is damaged/)
  const [version, id, text] = sealed.split('.') as [string, string, string]
  const bytes = Buffer.from(text, 'base64')
  bytes[bytes.length - 1]! ^= 1
  expect(() => box.open(`${version}.${id}.${bytes.toString('base64')}`, 'export 1')).toThrow(/is damaged/)
})

test.each([[[]], [['short']], [[`${first}x`.slice(4)]]])('keys that are none are refused: %j', (keys) => {
  expect(() => createSecretBox(keys)).toThrow(/secret/i)
})

test('the file of a directory is made once, and only its owner can read it', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-keys-'))
  try {
    const made = [readSecretKeys(dataDir, newSecretKey), readSecretKeys(dataDir, newSecretKey)]
    expect(made[0]).toEqual(made[1])
    expect(readSecretKeys(dataDir, newSecretKey)).toEqual(made[0])
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(dataDir, 'secret.key'), 'utf8')).toBe(`${made[0]![0]}\n`)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})
