import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { loadCommand, readValues } from '../../../src/doors/cli/command.ts'
import { commands } from '../../../src/doors/cli/commands.ts'
import { restoreCommands, setUpCommands } from '../../../src/web/settings/backup-commands.ts'

const places = ['/mnt/backups/waymark', 's3://bucket/a/prefix', "/mnt/it's a folder; rm -rf $HOME `x`"]
const moment = '2026-05-14T09:30:00.000000Z'
const offered = places.flatMap((place) => restoreCommands(place, moment).map(({ code }) => [code, place] as const))

/** What a shell makes of it. */
const wordsOf = (code: string) =>
  execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${code}`], { encoding: 'utf8' })
    .split('\n')
    .slice(0, -1)

test.each([...setUpCommands.map(({ code }) => [code, null] as const), ...offered])('%s is a command of waymark', async (code, place) => {
  const [program, name, ...args] = wordsOf(code)
  expect(program).toBe('waymark')
  const values = readValues(await loadCommand(commands.find((one) => one.name === name)!), args, {})
  if (place !== null) expect(values.rest).toEqual([place])
})

test('a moment is offered where one can be restored', () => {
  expect(restoreCommands('/b', null).some(({ code }) => code.includes('--at'))).toBe(false)
  expect(restoreCommands('/b', moment).at(-1)!.code).toBe(`waymark restore /b --data ./restored --at ${moment}`)
})
