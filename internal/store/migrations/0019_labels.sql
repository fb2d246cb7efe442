alter table approvals add column act text not null default '';
alter table approvals add column source text not null default '';
