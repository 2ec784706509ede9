import { type Field, Schema, type TypeMap } from 'apache-arrow'

/** A schema whose fields are identified by position. Arrow merges fields with the same name in each new batch, but columns of a statement may share a name. */
export class PositionedSchema<T extends TypeMap = TypeMap> extends Schema<T> {
  override assign<R extends TypeMap = TypeMap>(...args: readonly unknown[]): Schema<T & R> {
    const [fields] = args
    if (!Array.isArray(fields) || fields.length !== this.fields.length)
      return super.assign(...(args as Parameters<Schema<T>['assign']>)) as unknown as Schema<T & R>
    return new PositionedSchema<T & R>(fields as Field<(T & R)[keyof (T & R)]>[], this.metadata)
  }

  override selectAt<K extends T = T>(indexes: readonly number[]): Schema<K> {
    return new PositionedSchema<K>(indexes.flatMap((i) => this.fields[i] ?? []) as unknown as Field<K[keyof K]>[], this.metadata)
  }
}
