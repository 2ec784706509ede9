import type { ActingMember } from '../accounts/acting-member.ts'
import { type AccountContext, type Change, entryAbout, log } from '../accounts/context.ts'
import type { AccountStore, AccountTables, Plugin, PluginAttachment, PluginConfig } from '../accounts/records.ts'
import { invalid } from '../accounts/refusals.ts'
import { sealedFor } from '../accounts/secrets/resealing.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { ConfigChange, UploadedFile } from './fields.ts'

// The files among the settings of a plugin config.

/** A config that is being changed. */
interface Changing {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly tables: AccountTables
  readonly by: ActingMember
  readonly config: PluginConfig
  readonly plugin: Plugin
}

const largestFile = 4 * 1024 ** 2
const mostFiles = 50

/** For the runtime only. */
export const attachmentContents = (box: SecretBox, { plugin_config_id, key, contents }: PluginAttachment): Buffer =>
  Buffer.from(box.open(contents, sealedFor.pluginAttachment(plugin_config_id, key)), 'base64')

/** An attachment without its contents, as it is shown among the settings. */
export const shownAttachment = ({ id, file_size, file_name, content_type }: PluginAttachment) => ({
  uid: id,
  saved: true,
  size: file_size,
  name: file_name,
  type: content_type,
})
export const note = (by: ActingMember, config: PluginConfig, plugin: Plugin, activity: string) =>
  entryAbout('PluginConfig', config, config.name ?? plugin.name, by.user, activity)
export const attachmentsOf = (tables: AccountStore['read'], { id }: PluginConfig) =>
  tables.plugin_attachments.find({ plugin_config_id: id })

const removeAttachments = async ({ context, tables, by, config, plugin }: Changing, keys: readonly string[]) => {
  for (const found of await attachmentsOf(tables, config)) {
    if (!keys.includes(found.key)) continue
    await tables.plugin_attachments.remove({ id: found.id })
    const changes: Change[] = [{ type: 'PluginConfig', action: 'deleted', field: found.key, before: found.file_name, after: null }]
    await log(context, tables, { ...note(by, config, plugin, 'attachment_deleted'), changes })
  }
}
const addAttachment = async ({ context, box, tables, by, config, plugin }: Changing, key: string, file: UploadedFile) => {
  const contents = Buffer.from(file.contents, 'base64')
  if (contents.length > largestFile) throw invalid(`A file has at most ${largestFile} bytes.`, `add_attachment__${key}`, 'max_length')
  const before = (await attachmentsOf(tables, config)).filter((one) => one.key === key)
  await tables.plugin_attachments.remove({ id: before.map(({ id }) => id) })
  await tables.plugin_attachments.insert({
    id: context.newId(),
    project_id: config.project_id,
    plugin_config_id: config.id,
    key,
    content_type: file.type || 'application/octet-stream',
    file_name: file.name,
    file_size: contents.length,
    contents: box.seal(file.contents, sealedFor.pluginAttachment(config.id, key)),
  })
  const [old] = before
  const [action, oldName] = old ? (['changed', old.file_name] as const) : (['created', null] as const)
  const change: Change = { type: 'PluginConfig', action, field: key, before: oldName, after: file.name }
  await log(context, tables, { ...note(by, config, plugin, old ? 'attachment_updated' : 'attachment_created'), changes: [change] })
}
export const changeAttachments = async (changing: Changing, { add_attachment = {}, remove_attachment = {} }: ConfigChange) => {
  const removed = Object.entries(remove_attachment).flatMap(([key, is]) => (is === false || is === 'false' ? [] : [key]))
  await removeAttachments(changing, removed)
  for (const [key, file] of Object.entries(add_attachment)) await addAttachment(changing, key, file)
  if ((await attachmentsOf(changing.tables, changing.config)).length > mostFiles)
    throw invalid(`A plugin config has at most ${mostFiles} files.`, 'add_attachment')
}
