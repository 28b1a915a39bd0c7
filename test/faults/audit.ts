import type pg from 'pg'

/**
 * Who has written what leaders write, and who was elected when. Both are noted by the database in the
 * transaction of the write, under the name that the process gave when it connected.
 */
export async function watchLeaders(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create table audit (
      who text not null default current_setting('application_name'),
      at timestamptz not null default clock_timestamp(),
      what text not null
    );
    create table elections (name text not null, instance text not null, at timestamptz not null);
    create function audit() returns trigger language plpgsql as $$
    begin
      insert into audit (what) select tg_table_name || ' ' || tg_op where exists (select from changed);
      return null;
    end $$;
    create function elected() returns trigger language plpgsql as $$
    begin
      insert into elections values (new.name, new.instance, clock_timestamp());
      return null;
    end $$;
    create trigger elected after insert or update on leaders for each row execute function elected();
    do $$
    declare written regclass;
    begin
      for written in
        select (schemaname || '.' || quote_ident(tablename))::regclass from pg_tables
        where schemaname = 'read' or tablename in ('checkpoints', 'parked', 'public_events', 'timer_attempts')
      loop
        -- By row: a statement behind a fence that has fallen changes none.
        execute format(
          'create trigger inserted after insert on %1$s
             referencing new table as changed execute function audit();
           create trigger updated after update on %1$s
             referencing new table as changed execute function audit();
           create trigger deleted after delete on %1$s
             referencing old table as changed execute function audit()',
          written);
      end loop;
    end $$`)
}
