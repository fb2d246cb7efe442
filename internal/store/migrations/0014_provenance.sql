alter table document_versions add column provenance text not null default '{}';
alter table notes add column provenance text not null default '{}';
