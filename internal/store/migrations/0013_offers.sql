alter table approvals add column offers text not null default '[]';
