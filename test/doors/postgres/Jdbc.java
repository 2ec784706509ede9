import java.sql.*;
import java.time.*;
import java.util.*;

/** What applications do with pgjdbc. Arguments: the address and the key. It prints `ok`. */
public class Jdbc {
  static void same(Object found, Object wanted) {
    if (!Objects.equals(String.valueOf(found), String.valueOf(wanted)))
      throw new AssertionError("found " + found + ", wanted " + wanted);
  }

  static List<String> column(ResultSet rows, String name) throws SQLException {
    List<String> all = new ArrayList<>();
    while (rows.next()) all.add(rows.getString(name));
    return all;
  }

  public static void main(String[] args) throws Exception {
    Properties given = new Properties();
    given.put("user", "me");
    given.put("password", args[1]);
    // Prepared on the server from the second time on, with binary results.
    given.put("prepareThreshold", "2");
    try (Connection c = DriverManager.getConnection(args[0], given)) {
      c.setReadOnly(true);
      metadata(c);
      parameters(c);
      types(c);
      cursor(c);
      errors(c);
      try (Statement s = c.createStatement()) {
        s.setQueryTimeout(20);
        ResultSet rows = s.executeQuery("select event, plan, count(*) from (select event, properties->>'plan' plan from events) e group by rollup(event, plan) order by 1 nulls last, 2 nulls last");
        int all = 0;
        while (rows.next()) all++;
        same(all, 6);
      }
    }
    System.out.println("ok");
  }

  static void metadata(Connection c) throws SQLException {
    DatabaseMetaData about = c.getMetaData();
    same(about.getDatabaseProductName(), "PostgreSQL");
    same(column(about.getSchemas(), "TABLE_SCHEM").contains("public"), true);
    List<String> tables = column(about.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME");
    same(tables.containsAll(List.of("events", "persons", "buy", "view")), true);
    ResultSet columns = about.getColumns(null, "public", "buy", "%");
    Map<String, Integer> types = new HashMap<>();
    while (columns.next()) types.put(columns.getString("COLUMN_NAME"), columns.getInt("DATA_TYPE"));
    same(types.get("price"), Types.DOUBLE);
    same(types.get("gift"), Types.BIT);
    same(types.get("plan"), Types.VARCHAR);
    same(types.get("timestamp"), Types.TIMESTAMP);
    same(about.getPrimaryKeys(null, "public", "buy").next(), false);
    same(about.getIndexInfo(null, "public", "buy", false, true).next(), false);
    same(about.getImportedKeys(null, "public", "buy").next(), false);
    same(about.getTypeInfo().next(), true);
    same(about.getTableTypes().next(), true);
    about.getFunctions(null, null, "%").close();
    about.getProcedures(null, null, "%").close();
  }

  static void parameters(Connection c) throws SQLException {
    try (PreparedStatement s = c.prepareStatement("select count(*), sum(price) from buy where plan = ? and price > ? and timestamp >= ? and gift = ?")) {
      same(s.getParameterMetaData().getParameterCount(), 4);
      for (int i = 0; i < 4; i++) {
        s.setString(1, "pro");
        s.setDouble(2, i < 2 ? 1 : 100);
        s.setObject(3, OffsetDateTime.of(2024, 3, 1, 0, 0, 0, 0, ZoneOffset.UTC));
        s.setBoolean(4, true);
        ResultSet rows = s.executeQuery();
        same(rows.next(), true);
        same(rows.getLong(1), i < 2 ? 1L : 0L);
        same(rows.getObject(2), i < 2 ? (Object) 5.0 : null);
        same(rows.wasNull(), i >= 2);
      }
    }
    try (PreparedStatement s = c.prepareStatement("select event from events where event = any(?) and distinct_id <> ? limit ?")) {
      s.setArray(1, c.createArrayOf("text", new String[] {"buy", "x"}));
      s.setNull(2, Types.VARCHAR);
      s.setInt(3, 5);
      same(s.executeQuery().next(), false);
      s.setString(2, "bob");
      same(column(s.executeQuery(), "event"), "[buy, buy]");
    }
  }

  static void types(Connection c) throws SQLException {
    String sql = "select timestamp, timestamp::date, price, gift, uuid, properties, 1::int2, 2::int4, 3::int8, 1.5::numeric, array['a', 'b'], null::text, price::float4 from buy order by timestamp desc limit 1";
    try (PreparedStatement s = c.prepareStatement(sql)) {
      for (int i = 0; i < 4; i++) {
        ResultSet rows = s.executeQuery();
        ResultSetMetaData about = rows.getMetaData();
        same(about.getColumnTypeName(1), "timestamptz");
        same(about.getColumnClassName(3), "java.lang.Double");
        same(rows.next(), true);
        same(rows.getObject(1, OffsetDateTime.class), OffsetDateTime.of(2024, 3, 4, 9, 0, 0, 123456000, ZoneOffset.UTC));
        same(rows.getObject(2, LocalDate.class), LocalDate.of(2024, 3, 4));
        same(rows.getDouble(3), 7.5);
        same(rows.getBoolean(4), false);
        same(rows.getObject(5) instanceof UUID, true);
        same(rows.getString(6).contains("\"plan\""), true);
        same(rows.getShort(7) + rows.getInt(8) + rows.getLong(9), 6);
        same(rows.getBigDecimal(10), "1.5");
        same(Arrays.toString((Object[]) rows.getArray(11).getArray()), "[a, b]");
        same(rows.getString(12), null);
        same(rows.getFloat(13), 7.5f);
      }
    }
  }

  /** Without auto-commit and with a fetch size, rows are fetched part by part. */
  static void cursor(Connection c) throws SQLException {
    c.setAutoCommit(false);
    try (Statement s = c.createStatement()) {
      s.setFetchSize(7);
      ResultSet rows = s.executeQuery("select n from generate_series(1, 50) as t(n)");
      long sum = 0;
      while (rows.next()) sum += rows.getLong(1);
      same(sum, 1275L);
    }
    c.commit();
    c.setAutoCommit(true);
  }

  static void errors(Connection c) throws SQLException {
    for (String[] one : new String[][] {{"select evnt from events", "42703"}, {"selec 1", "42601"}, {"create table t (a int)", "25006"}})
      try (Statement s = c.createStatement()) {
        s.executeQuery(one[0]);
        throw new AssertionError("not refused: " + one[0]);
      } catch (SQLException error) {
        same(error.getSQLState(), one[1]);
      }
  }
}
