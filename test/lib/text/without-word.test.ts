import { expect, test } from 'vitest'
import { withoutWord } from '../../../src/lib/text/without-word.ts'

test.each([
  ['role "app" does not exist', 'app', 'role "*" does not exist'],
  ['an application of app.', 'app', 'an application of *.'],
  ['app', 'app', '*'],
  ['appapp app', 'app', 'appapp *'],
  ['p$ss! and p$ss!', 'p$ss!', '* and *'],
  ['x-p-x', '-p-', 'x*x'],
  ['nothing', '', 'nothing'],
  ['key=longsecret1', 'longsecret', 'key=*1'],
  ['Ädam Adam', 'dam', 'Ädam Adam'],
])('%s without %s', (text, word, expected) => {
  expect(withoutWord(text, word, '*')).toBe(expected)
})
