import { describe, expect, test } from 'vitest'
import { readFilter, readPath } from '../../../../src/service/accounts/scim/expressions.ts'
import { readPatch } from '../../../../src/service/accounts/scim/operations.ts'
import { userChangeOf } from '../../../../src/service/accounts/scim/user-changes.ts'

const path = (name: string, sub: string | null = null, where: object | null = null) => ({ name, sub, where })
const work = { name: 'type', value: 'work' }
const user = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

describe('filters', () => {
  const understood: readonly (readonly [text: string, comparisons: readonly object[]])[] = [
    ['userName eq "ann@acme.test"', [{ path: path('username'), value: 'ann@acme.test' }]],
    ['USERNAME EQ "a"', [{ path: path('username'), value: 'a' }]],
    [`${user}:userName eq "a"`, [{ path: path('username'), value: 'a' }]],
    ['  externalId   eq "a b"  ', [{ path: path('externalid'), value: 'a b' }]],
    ['displayName eq "say \\"hi\\" \\u00e9"', [{ path: path('displayname'), value: 'say "hi" é' }]],
    ['userName eq ""', [{ path: path('username'), value: '' }]],
    ['active eq true', [{ path: path('active'), value: true }]],
    ['active eq False', [{ path: path('active'), value: false }]],
    ['emails[type eq "work"].value eq "a"', [{ path: path('emails', 'value', work), value: 'a' }]],
    ['emails.value eq "a"', [{ path: path('emails', 'value'), value: 'a' }]],
    ['members[value eq "1"]', [{ path: path('members', 'value'), value: '1' }]],
    [
      'id eq "1" and members eq "2"',
      [
        { path: path('id'), value: '1' },
        { path: path('members'), value: '2' },
      ],
    ],
    ['userName eq "x and y"', [{ path: path('username'), value: 'x and y' }]],
  ]
  test.each(understood)('%s', (text, comparisons) => {
    expect(readFilter(text)).toEqual(comparisons)
  })

  const refused = [
    'userName',
    'userName eq',
    'userName eq "a',
    'userName eq "a\\"',
    'userName eq a',
    'userName eq "a" and',
    'userName eq "a" or userName eq "b"',
    'userName eq "a" userName eq "b"',
    'userName co "a"',
    'userName pr',
    'not (userName eq "a")',
    '(userName eq "a")',
    'emails[type eq "work"',
    'emails[type eq "work" and primary eq true].value eq "a"',
    'emails[type].value eq "a"',
    "userName eq 'a'",
    'userName eq "a\n"',
    '"userName" eq "a"',
    'eq eq eq',
    'userName eq "a"]',
    `userName eq "${'a'.repeat(1_000)}"`,
    Array.from({ length: 11 }, () => 'id eq "1"').join(' and '),
  ]
  test.each(refused)('refused: %s', (text) => {
    expect(() => readFilter(text)).toThrow(expect.objectContaining({ data: expect.objectContaining({ rule: 'invalidFilter' }) }))
  })
})

describe('paths', () => {
  test.each([
    ['userName', path('username')],
    ['name.givenName', path('name', 'givenname')],
    [`${user}:name.familyName`, path('name', 'familyname')],
    [user, path('')],
    ['emails[type eq "work"].value', path('emails', 'value', work)],
    ['emails[type eq "work"]', path('emails', null, work)],
    ['emails[primary eq true].value', path('emails', 'value', { name: 'primary', value: true })],
    ['members[value eq "1"]', path('members', null, { name: 'value', value: '1' })],
    [`${enterprise}:userName`, path(`${enterprise}:username`.toLowerCase())],
  ])('%s', (text, expected) => {
    expect(readPath(text)).toEqual(expected)
  })
  test.each(['', ' ', 'a b', 'emails[', 'emails[type eq "work"', 'emails[type eq "work"]value x', 'a"b"', '[value eq "1"]', 'a/b'])(
    'refused: %s',
    (text) => {
      expect(() => readPath(text)).toThrow(expect.objectContaining({ data: expect.objectContaining({ rule: 'invalidPath' }) }))
    },
  )
})

describe('what a PATCH says of a user', () => {
  const said = (...Operations: readonly object[]) => userChangeOf(readPatch({ Operations }))
  const cases: readonly (readonly [string, object, object])[] = [
    ['Entra ID, active', { op: 'Replace', path: 'active', value: 'False' }, { active: false }],
    ['Entra ID, with the name of the schema', { op: 'replace', path: `${user}:active`, value: true }, { active: true }],
    ['Okta, active', { op: 'replace', value: { active: false } }, { active: false }],
    ['dotted names', { op: 'replace', value: { 'name.givenName': 'Ann', displayName: 'A' } }, { givenName: 'Ann', displayName: 'A' }],
    ['an object named after the schema', { op: 'Add', value: { [user]: { name: { familyName: 'Lee' } } } }, { familyName: 'Lee' }],
    ['a user name in another schema', { op: 'replace', value: { [`${enterprise}:userName`]: 'mallory@acme.test' } }, {}],
    ['an object of another schema', { op: 'replace', value: { [enterprise]: { userName: 'mallory@acme.test', active: false } } }, {}],
    ['an extension', { op: 'Add', path: `${enterprise}:department`, value: 'Sales' }, {}],
    ['a work address', { op: 'Replace', path: 'emails[type eq "work"].value', value: 'a@b.test' }, { workEmail: 'a@b.test' }],
    ['another address', { op: 'Replace', path: 'emails[type eq "home"].value', value: 'a@b.test' }, {}],
    [
      'a list of addresses',
      {
        op: 'replace',
        value: {
          emails: [
            { type: 'home', value: 'h' },
            { type: 'Work', value: 'w' },
          ],
        },
      },
      { workEmail: 'w' },
    ],
    ['removed', { op: 'remove', path: 'externalId' }, { externalId: null }],
    ['a removed name', { op: 'Remove', path: 'name' }, { givenName: '', familyName: '' }],
    ['a removed address', { op: 'Remove', path: 'emails[type eq "work"]' }, { workEmail: null }],
    ['mass assignment', { op: 'replace', value: { roles: ['owner'], level: 15, password: 'x', id: '1', groups: [], is_active: true } }, {}],
  ]
  test.each(cases)('%s', (_, operation, change) => {
    expect(said(operation)).toEqual(change)
  })
  test('the last of several counts', () => {
    expect(said({ op: 'replace', path: 'active', value: false }, { op: 'replace', path: 'active', value: true })).toEqual({ active: true })
  })
  test.each([
    ['an unknown op', { op: 'move', path: 'active', value: false }, 'invalidSyntax'],
    ['nothing to remove', { op: 'remove' }, 'noTarget'],
    ['no attributes', { op: 'replace', value: 'x' }, 'invalidValue'],
    ['a list of attributes', { op: 'replace', value: [{ active: false }] }, 'invalidValue'],
    ['active that is neither', { op: 'replace', path: 'active', value: 'no' }, 'invalidValue'],
    ['active removed', { op: 'remove', path: 'active' }, 'invalidValue'],
    ['a name that is a number', { op: 'replace', path: 'name.givenName', value: 5 }, 'invalidValue'],
    ['a user name removed', { op: 'remove', path: 'userName' }, 'invalidValue'],
    ['a NUL character', { op: 'replace', path: 'displayName', value: 'a\0' }, 'invalidValue'],
    ['a long name', { op: 'replace', path: 'name.givenName', value: 'a'.repeat(151) }, 'invalidValue'],
  ])('refused: %s', (_, operation, rule) => {
    expect(() => said(operation)).toThrow(expect.objectContaining({ data: expect.objectContaining({ rule }) }))
  })
  test('no operation, too many, or none at all', () => {
    expect(() => said()).toThrow()
    expect(() => userChangeOf(readPatch({}))).toThrow()
    const one = { op: 'replace', path: 'active', value: true }
    expect(() => said(...Array.from({ length: 1_001 }, () => one))).toThrow()
  })
})
